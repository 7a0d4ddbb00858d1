/* The objects that valid calls use, and what frees their results. Objects that few need are made on demand. */
#ifndef OXMPI_TESTS_BAD_INPUT_H
#define OXMPI_TESTS_BAD_INPUT_H

#include "check.h"
#include <arpa/inet.h>
#include <limits.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/* How often an error handler was called, and on which communicator last. */
static int heard;
static MPI_Comm heard_on;

static void hear(MPI_Comm *comm, int *code, ...) {
    (void)code;
    heard++;
    heard_on = *comm;
}

static void hear_session(MPI_Session *session, int *code, ...) {
    (void)session, (void)code;
    heard++;
}

static void hear_file(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    heard++;
}

static void hear_win(MPI_Win *win, int *code, ...) {
    (void)win, (void)code;
    heard++;
}

static void an_operation(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

static void a_large_operation(void *in, void *inout, MPI_Count *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

static MPI_Comm a_comm, freed_MPI_Comm;
static MPI_Datatype a_type, an_uncommitted_type, freed_MPI_Datatype;
static MPI_Errhandler an_errhandler, a_file_errhandler, a_session_errhandler, freed_MPI_Errhandler;
static MPI_File freed_MPI_File = (MPI_File)0xdeadbeee0;
static MPI_Group a_group, freed_MPI_Group;
static MPI_Info an_info, freed_MPI_Info;
static MPI_Message freed_MPI_Message;
static MPI_Op freed_MPI_Op;
static MPI_Request freed_MPI_Request;
static MPI_Session freed_MPI_Session = (MPI_Session)0xdeadbeee0;
static MPI_Win freed_MPI_Win = (MPI_Win)0xdeadbeee0;
static MPI_Status an_empty_status;
static int a_keyval, freed_keyval;
static char a_long_string[4096], bytes[4096];

/* Communicators */

static MPI_Comm fresh_comm(void) {
    MPI_Comm comm;
    OK(MPI_Comm_dup(a_comm, &comm));
    return comm;
}

static void free_comm(MPI_Comm *comm) {
    if (*comm != MPI_COMM_NULL)
        OK(MPI_Comm_free(comm));
}

/* Made by the first call, which all ranks reach alike. */
#define ON_DEMAND(call)                                                                             \
    static MPI_Comm comm = MPI_COMM_NULL;                                                           \
    if (comm == MPI_COMM_NULL)                                                                      \
        OK(call);                                                                                   \
    return comm

static MPI_Comm an_intercomm(void) {
    ON_DEMAND(MPI_Intercomm_create(MPI_COMM_SELF, 0, a_comm, 1 - rank, 0, &comm));
}

/* Where an intracommunicator is needed; one rank alone cannot make another. */
static MPI_Comm an_intercomm_if_any(void) {
    return size > 1 ? an_intercomm() : (MPI_Comm)0;
}

static MPI_Comm a_cart(void) {
    int dims[] = {size, 1}, periods[] = {0, 0};
    ON_DEMAND(MPI_Cart_create(a_comm, 2, dims, periods, 0, &comm));
}

/* Node 0 is its own neighbour. */
static MPI_Comm a_graph(void) {
    int index[] = {1, 1}, edges[] = {0};
    ON_DEMAND(MPI_Graph_create(a_comm, size, index, edges, 0, &comm));
}

static MPI_Comm a_dist_graph(void) {
    ON_DEMAND(MPI_Dist_graph_create_adjacent(a_comm, 1, &rank, &(int){1}, 1, &rank, &(int){1}, MPI_INFO_NULL, 0,
                                             &comm));
}

/* Attributes */

static int fresh_keyval(void) {
    int keyval;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    return keyval;
}

static int fresh_type_keyval(void) {
    int keyval;
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL));
    return keyval;
}

static int fresh_win_keyval(void) {
    int keyval;
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL));
    return keyval;
}

static int a_type_keyval(void) {
    static int keyval = MPI_KEYVAL_INVALID;
    if (keyval == MPI_KEYVAL_INVALID)
        keyval = fresh_type_keyval();
    return keyval;
}

static int a_win_keyval(void) {
    static int keyval = MPI_KEYVAL_INVALID;
    if (keyval == MPI_KEYVAL_INVALID)
        keyval = fresh_win_keyval();
    return keyval;
}

/* With an attribute on a_comm. */
static int cached_keyval(void) {
    OK(MPI_Comm_set_attr(a_comm, a_keyval, bytes));
    return a_keyval;
}

/* Datatypes */

static MPI_Datatype fresh_type(void) {
    MPI_Datatype type;
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    return type;
}

/* With an attribute of a_type_keyval. */
static MPI_Datatype cached_type(void) {
    OK(MPI_Type_set_attr(a_type, a_type_keyval(), bytes));
    return a_type;
}

static void free_type(MPI_Datatype *type) {
    OK(MPI_Type_free(type));
}

/* Error codes */

static MPI_Errhandler fresh_errhandler(void) {
    MPI_Errhandler errhandler;
    OK(MPI_Comm_create_errhandler(hear, &errhandler));
    return errhandler;
}

static int added_class(void) {
    int class;
    OK(MPI_Add_error_class(&class));
    return class;
}

/* Without a string if that is null. */
static int added_code(const char *string) {
    int code;
    OK(MPI_Add_error_code(MPI_ERR_ARG, &code));
    if (string != NULL)
        OK(MPI_Add_error_string(code, string));
    return code;
}

/* Groups, info objects, operations */

static MPI_Group fresh_group(void) {
    MPI_Group group;
    OK(MPI_Comm_group(a_comm, &group));
    return group;
}

static MPI_Info fresh_info(void) {
    MPI_Info info;
    OK(MPI_Info_dup(an_info, &info));
    return info;
}

static MPI_Op fresh_op(void) {
    MPI_Op op;
    OK(MPI_Op_create(an_operation, 1, &op));
    return op;
}

/* Requests and messages */

static MPI_Request a_request(void) {
    MPI_Request request;
    OK(MPI_Irecv(bytes, 1, MPI_INT, MPI_PROC_NULL, 0, a_comm, &request));
    return request;
}

/* One that does not complete before it is cancelled. */
static MPI_Request a_receive(void) {
    MPI_Request request;
    OK(MPI_Irecv(bytes, 1, MPI_INT, rank, 99, a_comm, &request));
    return request;
}

static MPI_Request a_persistent_request(void) {
    MPI_Request request;
    OK(MPI_Recv_init(bytes, 1, MPI_INT, MPI_PROC_NULL, 0, a_comm, &request));
    return request;
}

static void end_persistent(int count, MPI_Request *requests) {
    for (int index = 0; index < count; index++) {
        OK(MPI_Wait(&requests[index], MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&requests[index]));
    }
}

/* Active, of two partitions. */
static MPI_Request a_partitioned_send(void) {
    MPI_Request request;
    OK(MPI_Psend_init(bytes, 2, 1, MPI_INT, MPI_PROC_NULL, 0, a_comm, MPI_INFO_NULL, &request));
    OK(MPI_Start(&request));
    return request;
}

static MPI_Request a_partitioned_receive(void) {
    MPI_Request request;
    OK(MPI_Precv_init(bytes, 2, 1, MPI_INT, MPI_PROC_NULL, 0, a_comm, MPI_INFO_NULL, &request));
    OK(MPI_Start(&request));
    return request;
}

static void end_partitioned(MPI_Request *request) {
    /* Of a send, some may be ready; a receive has none to be marked. */
    for (int partition = 0; partition < 2; partition++)
        (void)MPI_Pready(partition, *request);
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(request));
}

static int a_query(void *state, MPI_Status *status) {
    (void)state;
    *status = an_empty_status;
    return MPI_SUCCESS;
}

static int a_free(void *state) {
    (void)state;
    return MPI_SUCCESS;
}

static int a_cancel(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static MPI_Request a_generalized_request(void) {
    MPI_Request request;
    OK(MPI_Grequest_start(a_query, a_free, a_cancel, NULL, &request));
    return request;
}

static MPI_Message a_message(void) {
    MPI_Request request;
    MPI_Message message;
    OK(MPI_Isend(bytes, 1, MPI_INT, rank, 98, a_comm, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Mprobe(rank, 98, a_comm, &message, MPI_STATUS_IGNORE));
    return message;
}

/* Buffers for MPI_Bsend */

static void *detached;
static int detached_bytes;

static void attach(void) {
    OK(MPI_Buffer_attach(bytes, sizeof bytes));
}

static void detach(void) {
    OK(MPI_Buffer_detach(&detached, &detached_bytes));
}

static void attach_to_comm(void) {
    OK(MPI_Comm_attach_buffer(a_comm, bytes, sizeof bytes));
}

static void detach_from_comm(void) {
    OK(MPI_Comm_detach_buffer(a_comm, &detached, &detached_bytes));
}

/* Sessions */

static MPI_Session fresh_session(void) {
    MPI_Session session;
    OK(MPI_Session_init(MPI_INFO_NULL, a_session_errhandler, &session));
    return session;
}

static MPI_Session the_session = MPI_SESSION_NULL;
static MPI_Group the_session_group = MPI_GROUP_NULL;

static MPI_Session a_session(void) {
    if (the_session == MPI_SESSION_NULL)
        the_session = fresh_session();
    return the_session;
}

static MPI_Group session_group(void) {
    if (the_session_group == MPI_GROUP_NULL)
        OK(MPI_Group_from_session_pset(a_session(), "mpi://WORLD", &the_session_group));
    return the_session_group;
}

/* This rank's alone, and that of the other one of two. */
static MPI_Group own_group(void) {
    static MPI_Group group = MPI_GROUP_NULL;
    if (group == MPI_GROUP_NULL)
        OK(MPI_Group_incl(session_group(), 1, &rank, &group));
    return group;
}

static MPI_Group other_group(void) {
    static MPI_Group group = MPI_GROUP_NULL;
    if (group == MPI_GROUP_NULL)
        OK(MPI_Group_excl(session_group(), 1, &rank, &group));
    return group;
}

static void attach_to_session(void) {
    OK(MPI_Session_attach_buffer(a_session(), bytes, sizeof bytes));
}

static void detach_from_session(void) {
    OK(MPI_Session_detach_buffer(a_session(), &detached, &detached_bytes));
}

/* Other jobs: a child that is there for this rank alone does the other side's part. */

enum { CONNECT = 1, ACCEPT, JOIN, LEAVE };

static char *program, a_port[MPI_MAX_PORT_NAME], the_partners_port[MPI_MAX_PORT_NAME];
static MPI_Comm the_partner = MPI_COMM_NULL;

/* What a partner does, as it is told. */
static void be_partner(MPI_Comm parent) {
    char port[MPI_MAX_PORT_NAME], own_port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    MPI_Status status;
    OK(MPI_Open_port(MPI_INFO_NULL, own_port));
    OK(MPI_Send(own_port, sizeof own_port, MPI_CHAR, 0, 0, parent));
    for (;;) {
        OK(MPI_Recv(port, sizeof port, MPI_CHAR, 0, MPI_ANY_TAG, parent, &status));
        if (status.MPI_TAG == LEAVE)
            break;
        if (status.MPI_TAG == CONNECT)
            OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        if (status.MPI_TAG == ACCEPT)
            OK(MPI_Comm_accept(own_port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        if (status.MPI_TAG == JOIN) {
            struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(port)),
                                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
            int fd = socket(AF_INET, SOCK_STREAM, 0);
            CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "nobody listens");
            OK(MPI_Comm_join(fd, &inter));
            close(fd);
        }
        OK(MPI_Comm_disconnect(&inter));
    }
    OK(MPI_Close_port(own_port));
}

static void make_partner(void) {
    char *words[] = {"--partner", NULL};
    if (the_partner != MPI_COMM_NULL)
        return;
    OK(MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &the_partner, MPI_ERRCODES_IGNORE));
    OK(MPI_Recv(the_partners_port, sizeof the_partners_port, MPI_CHAR, 0, 0, the_partner, MPI_STATUS_IGNORE));
    OK(MPI_Open_port(MPI_INFO_NULL, a_port));
}

static void tell_partner(int what, const char *port) {
    char text[MPI_MAX_PORT_NAME];
    snprintf(text, sizeof text, "%s", port);
    OK(MPI_Send(text, sizeof text, MPI_CHAR, 0, what, the_partner));
}

/* Where the partner connects now. */
static char *visited_port(void) {
    make_partner();
    tell_partner(CONNECT, a_port);
    return a_port;
}

/* Where the partner accepts now. */
static char *open_port(void) {
    make_partner();
    tell_partner(ACCEPT, "");
    return the_partners_port;
}

static void end_partner(void) {
    if (the_partner == MPI_COMM_NULL)
        return;
    tell_partner(LEAVE, "");
    OK(MPI_Comm_disconnect(&the_partner));
    OK(MPI_Close_port(a_port));
}

/* Connected with the partner, who joins at the other end. */
static int a_socket(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    char port[12];
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
    CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0 &&
              getsockname(listener, (struct sockaddr *)&address, &length) == 0,
          "there is no socket");
    snprintf(port, sizeof port, "%d", ntohs(address.sin_port));
    make_partner();
    tell_partner(JOIN, port);
    fd = accept(listener, NULL, NULL);
    close(listener);
    return fd;
}

static char *fresh_port(void) {
    static char port[MPI_MAX_PORT_NAME];
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    return port;
}

/* Nobody else's. */
static char *fresh_service(void) {
    static char name[64];
    static int number;
    snprintf(name, sizeof name, "bad_input of %d, %d", (int)getpid(), number++);
    return name;
}

static char *published_service(void) {
    char *name = fresh_service();
    OK(MPI_Publish_name(name, MPI_INFO_NULL, "a port"));
    return name;
}

/* Handles of objects that were freed. */
static void make_freed(void) {
    freed_MPI_Comm = fresh_comm();
    OK(MPI_Comm_free(&(MPI_Comm){freed_MPI_Comm}));
    freed_MPI_Datatype = fresh_type();
    OK(MPI_Type_free(&(MPI_Datatype){freed_MPI_Datatype}));
    freed_MPI_Errhandler = fresh_errhandler();
    OK(MPI_Errhandler_free(&(MPI_Errhandler){freed_MPI_Errhandler}));
    freed_MPI_Group = fresh_group();
    OK(MPI_Group_free(&(MPI_Group){freed_MPI_Group}));
    freed_MPI_Info = fresh_info();
    OK(MPI_Info_free(&(MPI_Info){freed_MPI_Info}));
    freed_MPI_Message = a_message();
    OK(MPI_Mrecv(bytes, 1, MPI_INT, &(MPI_Message){freed_MPI_Message}, MPI_STATUS_IGNORE));
    freed_MPI_Op = fresh_op();
    OK(MPI_Op_free(&(MPI_Op){freed_MPI_Op}));
    freed_MPI_Request = a_request();
    OK(MPI_Request_free(&(MPI_Request){freed_MPI_Request}));
    freed_keyval = fresh_keyval();
    OK(MPI_Comm_free_keyval(&(int){freed_keyval}));
}

static void make_objects(void) {
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &a_comm));
    an_errhandler = fresh_errhandler();
    OK(MPI_Session_create_errhandler(hear_session, &a_session_errhandler));
    OK(MPI_File_create_errhandler(hear_file, &a_file_errhandler));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, a_file_errhandler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, an_errhandler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, an_errhandler));
    OK(MPI_Comm_set_errhandler(a_comm, an_errhandler));
    OK(MPI_Comm_set_name(a_comm, "a_comm"));
    OK(MPI_Type_create_hvector(2, 1, 8, MPI_INT, &a_type));
    OK(MPI_Type_commit(&a_type));
    OK(MPI_Type_set_name(a_type, "a_type"));
    an_uncommitted_type = fresh_type();
    OK(MPI_Comm_group(a_comm, &a_group));
    OK(MPI_Info_create(&an_info));
    OK(MPI_Info_set(an_info, "key", "value"));
    OK(MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, a_comm, &an_empty_status));
    a_keyval = fresh_keyval();
    memset(a_long_string, 'x', sizeof a_long_string - 1);
    make_freed();
}

/* Everything that wrong calls might change about the objects, as text. */
static const char *state(void) {
    static char text[1024];
    char name[2][MPI_MAX_OBJECT_NAME], value[16] = "";
    int length, ranks, members, type_bytes, keys, present;
    MPI_Aint lb, extent;
    MPI_Errhandler errhandler;
    OK(MPI_Comm_get_name(a_comm, name[0], &length));
    OK(MPI_Comm_size(a_comm, &ranks));
    OK(MPI_Comm_get_errhandler(a_comm, &errhandler));
    OK(MPI_Errhandler_free(&(MPI_Errhandler){errhandler}));
    OK(MPI_Group_size(a_group, &members));
    OK(MPI_Type_get_name(a_type, name[1], &length));
    OK(MPI_Type_size(a_type, &type_bytes));
    OK(MPI_Type_get_extent(a_type, &lb, &extent));
    OK(MPI_Info_get_nkeys(an_info, &keys));
    OK(MPI_Info_get_string(an_info, "key", &(int){sizeof value}, value, &present));
    snprintf(text, sizeof text, "%s %d %p; %d; %s %d %ld %ld; %d %d %s", name[0], ranks, (void *)errhandler, members,
             name[1], type_bytes, (long)lb, (long)extent, keys, present, value);
    return text;
}

static void free_objects(void) {
    if (the_session_group != MPI_GROUP_NULL)
        OK(MPI_Group_free(&the_session_group));
    if (the_session != MPI_SESSION_NULL)
        OK(MPI_Session_finalize(&the_session));
    OK(MPI_Comm_free(&a_comm));
    OK(MPI_Type_free(&a_type));
    OK(MPI_Type_free(&an_uncommitted_type));
    OK(MPI_Group_free(&a_group));
    OK(MPI_Info_free(&an_info));
}

#endif
