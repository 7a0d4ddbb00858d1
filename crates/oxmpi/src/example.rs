//! The examples of the methods that `lifetimes!`, `between!` and `sends!` make.
//!
//! What a call of a collective is given stands behind its arguments there, as text, and so does what it gives; the
//! forms of the call are here. `on` says whose method it is: that of the world of two ranks, `()`; of a `(line)` of
//! them; of what is between the two as groups, a `(pair)`; or `(between)` two groups of three ranks.

/// `form on, method(buf, arguments), what it gives`: of a call on one buffer.
macro_rules! example_on_one {
    (blocking $on:tt, $name:ident($buf:literal $more:tt), $gives:literal $(at $place:literal)?) => {
        on!($on "let mut buf = ", $buf, ";\n",
            name!($on), ".", stringify!($name), "(&mut buf", and!($more), ")?;\n",
            "assert_eq!(buf", $($place,)? ", ", $gives, ");")
    };
    (nonblocking $on:tt, $name:ident($buf:literal $more:tt), $gives:literal $(at $place:literal)?) => {
        on!($on "let request = ", name!($on), ".", stringify!($name), "(", $buf, and!($more), ")?;\n",
            "// ... compute meanwhile ...\n",
            "let (buf, _) = request.wait()?;\n",
            "assert_eq!(buf", $($place,)? ", ", $gives, ");")
    };
    (persistent $on:tt, $name:ident($buf:literal $more:tt), $gives:literal $(at $place:literal)?) => {
        on!($on "let mut request = ", name!($on), ".", stringify!($name), "(", $buf, and!($more), ")?;\n",
            "for _ in 0..3 {\n",
            "    request.buf_mut().copy_from_slice(&", $buf, ");\n",
            "    request = request.start()?.wait()?;\n",
            "    assert_eq!(request.buf()", $($place,)? ", ", $gives, ");\n",
            "}")
    };
    (scope $on:tt, $name:ident($buf:literal $more:tt), $gives:literal $(at $place:literal)?) => {
        on!($on "let mut buf = ", $buf, ";\n",
            name!($on), ".scope(|scope| {\n",
            "    let request = scope.", stringify!($name), "(&mut buf", and!($more), ")?;\n",
            "    // ... compute meanwhile ...\n",
            "    let buf = request.wait()?;\n",
            "    assert_eq!(buf", $($place,)? ", ", $gives, ");\n",
            "    Ok(())\n",
            "})?;")
    };
    (scope_init $on:tt, $name:ident($buf:literal $more:tt), $gives:literal $(at $place:literal)?) => {
        on!($on "let mut buf = ", $buf, ";\n",
            name!($on), ".scope(|scope| {\n",
            "    let mut request = scope.", stringify!($name), "(&mut buf", and!($more), ")?;\n",
            "    for _ in 0..3 {\n",
            "        request.buf_mut().copy_from_slice(&", $buf, ");\n",
            "        request = request.start()?.wait()?;\n",
            "        assert_eq!(request.buf()", $($place,)? ", ", $gives, ");\n",
            "    }\n",
            "    Ok(())\n",
            "})?;")
    };
}

/// `form on, method(send, arguments; recv, arguments), what it gives`: of a call on two buffers.
macro_rules! example_on_two {
    (blocking $on:tt, $name:ident($send:literal $of:tt; $recv:literal $more:tt), $gives:literal) => {
        on!($on "let mut recv = ", $recv, ";\n",
            name!($on), ".", stringify!($name), "(&", $send, and!($of), ", &mut recv", and!($more), ")?;\n",
            "assert_eq!(recv, ", $gives, ");")
    };
    (nonblocking $on:tt, $name:ident($send:literal $of:tt; $recv:literal $more:tt), $gives:literal) => {
        on!($on "let request = ", name!($on), ".", stringify!($name),
            "(", $send, and!($of), ", ", $recv, and!($more), ")?;\n",
            "// ... compute meanwhile ...\n",
            "let ((_, recv), _) = request.wait()?;\n",
            "assert_eq!(recv, ", $gives, ");")
    };
    (persistent $on:tt, $name:ident($send:literal $of:tt; $recv:literal $more:tt), $gives:literal) => {
        on!($on "let mut request = ", name!($on), ".", stringify!($name),
            "(", $send, and!($of), ", ", $recv, and!($more), ")?;\n",
            "for _ in 0..3 {\n",
            "    request.send_buf_mut().copy_from_slice(&", $send, ");\n",
            "# request.recv_buf_mut().copy_from_slice(&", $recv, ");\n",
            "    request = request.start()?.wait()?;\n",
            "    assert_eq!(request.recv_buf(), ", $gives, ");\n",
            "}")
    };
    (scope $on:tt, $name:ident($send:literal $of:tt; $recv:literal $more:tt), $gives:literal) => {
        on!($on "let (send, mut recv) = (", $send, ", ", $recv, ");\n",
            name!($on), ".scope(|scope| {\n",
            "    let request = scope.", stringify!($name),
            "(&send", and!($of), ", &mut recv", and!($more), ")?;\n",
            "    // ... compute meanwhile ...\n",
            "    assert_eq!(request.wait()?, &", $gives, ");\n",
            "    Ok(())\n",
            "})?;")
    };
    (scope_init $on:tt, $name:ident($send:literal $of:tt; $recv:literal $more:tt), $gives:literal) => {
        on!($on "let (mut send, mut recv) = (", $send, ", ", $recv, ");\n",
            name!($on), ".scope(|scope| {\n",
            "    let mut request = scope.", stringify!($name),
            "(&mut send", and!($of), ", &mut recv", and!($more), ")?;\n",
            "    for _ in 0..3 {\n",
            "        request.send_buf_mut().copy_from_slice(&", $send, ");\n",
            "# request.recv_buf_mut().copy_from_slice(&", $recv, ");\n",
            "        request = request.start()?.wait()?;\n",
            "        assert_eq!(request.recv_buf(), ", $gives, ");\n",
            "    }\n",
            "    Ok(())\n",
            "})?;")
    };
}

/// `form direction, method(what is sent to what, arguments), what it gives`: of a call with a root, which is rank 1 of
/// the world, alone in its group.
macro_rules! example_with_root {
    (blocking $direction:ident, $name:ident($send:literal to $recv:literal $more:tt), $gives:literal) => {
        on!((between) "if side == ", sender!($direction), " {\n",
            "    between.", stringify!($name), "(", sent!($direction "&", $send), and!($more), ")?;\n",
            "} else {\n",
            "    let mut recv = ", $recv, ";\n",
            "    between.", stringify!($name), "(", received!($direction "&mut recv"), and!($more), ")?;\n",
            "    assert_eq!(recv, ", $gives, ");\n",
            "}")
    };
    (nonblocking $direction:ident, $name:ident($send:literal to $recv:literal $more:tt), $gives:literal) => {
        on!((between) "let request = if side == ", sender!($direction), " {\n",
            "    between.", stringify!($name), "(", sent!($direction $send), and!($more), ")?\n",
            "} else {\n",
            "    between.", stringify!($name), "(", received!($direction $recv), and!($more), ")?\n",
            "};\n",
            "// ... compute meanwhile ...\n",
            "let (buf, _) = request.wait()?;\n",
            "assert!(side == ", sender!($direction), " || buf == ", $gives, ");")
    };
    (persistent $direction:ident, $name:ident($send:literal to $recv:literal $more:tt), $gives:literal) => {
        on!((between) "let mut request = if side == ", sender!($direction), " {\n",
            "    between.", stringify!($name), "(", sent!($direction $send), and!($more), ")?\n",
            "} else {\n",
            "    between.", stringify!($name), "(", received!($direction $recv), and!($more), ")?\n",
            "};\n",
            "for _ in 0..3 {\n",
            "# if side != ", sender!($direction), " { request.buf_mut().copy_from_slice(&", $recv, "); }\n",
            "    request = request.start()?.wait()?;\n",
            "    assert!(side == ", sender!($direction), " || request.buf() == ", $gives, ");\n",
            "}")
    };
    (scope $direction:ident, $name:ident($send:literal to $recv:literal $more:tt), $gives:literal) => {
        on!((between) "let (send, mut recv) = (", $send, ", ", $recv, ");\n",
            "between.scope(|scope| {\n",
            "    let request = if side == ", sender!($direction), " {\n",
            "        scope.", stringify!($name), "(", sent!($direction "&send"), and!($more), ")?\n",
            "    } else {\n",
            "        scope.", stringify!($name), "(", received!($direction "&mut recv"), and!($more), ")?\n",
            "    };\n",
            "    // ... compute meanwhile ...\n",
            "    request.wait()\n",
            "})?;\n",
            "assert!(side == ", sender!($direction), " || recv == ", $gives, ");")
    };
    (scope_init $direction:ident, $name:ident($send:literal to $recv:literal $more:tt), $gives:literal) => {
        on!((between) "let (mut send, mut recv) = (", $send, ", ", $recv, ");\n",
            "between.scope(|scope| {\n",
            "    let mut request = if side == ", sender!($direction), " {\n",
            "        scope.", stringify!($name), "(", sent!($direction "&mut send"), and!($more), ")?\n",
            "    } else {\n",
            "        scope.", stringify!($name), "(", received!($direction "&mut recv"), and!($more), ")?\n",
            "    };\n",
            "    for _ in 0..3 {\n",
            "# if side != ", sender!($direction), " { request.buf_mut().copy_from_slice(&", $recv, "); }\n",
            "        request = request.start()?.wait()?;\n",
            "        assert!(side == ", sender!($direction), " || request.buf() == ", $gives, ");\n",
            "    }\n",
            "    Ok(())\n",
            "})?;")
    };
}

/// `form on, method`: of a send of two numbers to one's only peer, who does the same; behind that may stand what is
/// called on the communicator when the receive has begun.
macro_rules! example_of_send {
    (blocking $on:tt, $name:ident $(, $first:literal)?) => {
        on!($on "let receive = ", name!($on), ".irecv([0; 2], ", peer!($on), ", 0)?;\n",
            $(name!($on), $first, "\n",)?
            name!($on), ".", stringify!($name), "(&[", mine!($on), ", 7], ", peer!($on), ", 0)?;\n",
            "assert_eq!(receive.wait()?.0, [1 - ", mine!($on), ", 7]);")
    };
    (nonblocking $on:tt, $name:ident $(, $first:literal)?) => {
        on!($on "let receive = ", name!($on), ".irecv([0; 2], ", peer!($on), ", 0)?;\n",
            $(name!($on), $first, "\n",)?
            "let send = ", name!($on), ".", stringify!($name),
            "([", mine!($on), ", 7], ", peer!($on), ", 0)?;\n",
            "// ... compute meanwhile ...\n",
            "assert_eq!(receive.wait()?.0, [1 - ", mine!($on), ", 7]);\n",
            "assert_eq!(send.wait()?.0, [", mine!($on), ", 7]); // the buffer is there again")
    };
    (persistent $on:tt, $name:ident $(, $first:literal)?) => {
        on!($on "let mut recv = ", name!($on), ".recv_init([0; 2], ", peer!($on), ", 0)?;\n",
            "let mut send = ", name!($on), ".", stringify!($name), "([0; 2], ", peer!($on), ", 0)?;\n",
            "for step in 0..3 {\n",
            "    send.buf_mut().fill(step);\n",
            "    let receiving = recv.start()?;\n",
            $("    ", name!($on), $first, "\n",)?
            "    send = send.start()?.wait()?;\n",
            "    recv = receiving.wait()?;\n",
            "    assert_eq!(recv.buf(), [step; 2]);\n",
            "}")
    };
    (scope $on:tt, $name:ident $(, $first:literal)?) => {
        on!($on "let (mine, mut theirs) = ([", mine!($on), ", 7], [0; 2]);\n",
            name!($on), ".scope(|scope| {\n",
            "    let receive = scope.recv(&mut theirs, ", peer!($on), ", 0)?;\n",
            $("    ", name!($on), $first, "\n",)?
            "    let send = scope.", stringify!($name), "(&mine, ", peer!($on), ", 0)?;\n",
            "    // ... compute meanwhile ...\n",
            "    assert_eq!(receive.wait()?, &[1 - ", mine!($on), ", 7]);\n",
            "    send.wait().map(drop)\n",
            "})?;")
    };
    (scope_init $on:tt, $name:ident $(, $first:literal)?) => {
        on!($on "let (mut mine, mut theirs) = ([0; 2], [0; 2]);\n",
            name!($on), ".scope(|scope| {\n",
            "    let mut recv = scope.recv_init(&mut theirs, ", peer!($on), ", 0)?;\n",
            "    let mut send = scope.", stringify!($name), "(&mut mine, ", peer!($on), ", 0)?;\n",
            "    for step in 0..3 {\n",
            "        send.buf_mut().fill(step);\n",
            "        let receiving = recv.start()?;\n",
            $("        ", name!($on), $first, "\n",)?
            "        send = send.start()?.wait()?;\n",
            "        recv = receiving.wait()?;\n",
            "        assert_eq!(recv.buf(), [step; 2]);\n",
            "    }\n",
            "    Ok(())\n",
            "})?;")
    };
}

/// More arguments, behind others.
macro_rules! and {
    (($($argument:literal)*)) => {
        concat!($(", ", $argument),*)
    };
}

/// What is around an example's lines.
macro_rules! on {
    ($on:tt $($text:expr),*) => {
        concat!(
            "\n```\n# use oxmpi::Shape;\n# fn main() -> oxmpi::Result<()> {\n",
            ranks!($on), made!($on), $($text,)*
            "\n# Ok(())\n# })?;\n# Ok(())\n# }\n```"
        )
    };
}

macro_rules! ranks {
    ((between)) => {
        "# oxmpi::run(3, |world| {\n"
    };
    ((pair)) => {
        "# oxmpi::run(2, |world| {\n"
    };
    ($two:tt) => {
        "# oxmpi::run(2, |world| {\nlet rank = world.rank(); // 0 or 1\n"
    };
}

/// The lines that make the communicator.
macro_rules! made {
    (()) => {
        ""
    };
    ((line)) => {
        "let line = world.cartesian(&[2], &[false])?.expect(\"every rank has a place\");\n"
    };
    ((between)) => {
        concat!(
            "let side = world.rank() % 2; // ranks 0 and 2 are one, rank 1 the other\n",
            "# let group = world.split(Some(side as i32), 0)?.expect(\"every rank has a color\");\n",
            "let between = group.intercommunicator(0, &world, 1 - side, 0)?;\n"
        )
    };
    ((pair)) => {
        concat!(
            "let side = world.rank(); // each rank is a group\n",
            "# let group = world.split(Some(side as i32), 0)?.expect(\"every rank has a color\");\n",
            "let between = group.intercommunicator(0, &world, 1 - side, 0)?;\n"
        )
    };
}

macro_rules! name {
    (()) => {
        "world"
    };
    ((line)) => {
        "line"
    };
    ($groups:tt) => {
        "between"
    };
}

/// A number of this rank: 0 or 1.
macro_rules! mine {
    ((pair)) => {
        "side"
    };
    ($on:tt) => {
        "rank"
    };
}

/// The rank of the other one.
macro_rules! peer {
    ((pair)) => {
        "0"
    };
    ($on:tt) => {
        "1 - rank"
    };
}

/// The side of who sends.
macro_rules! sender {
    (FromRoot) => {
        "1"
    };
    (ToRoot) => {
        "0"
    };
}

/// The part of who sends.
macro_rules! sent {
    (FromRoot $($buf:expr),*) => { concat!("oxmpi::Here(", $($buf,)* ")") };
    (ToRoot $($buf:expr),*) => { concat!("oxmpi::There(0, ", $($buf,)* ")") };
}

/// The part of who receives.
macro_rules! received {
    (FromRoot $buf:expr) => {
        concat!("oxmpi::There(0, ", $buf, ")")
    };
    (ToRoot $buf:expr) => {
        concat!("oxmpi::Here(", $buf, ")")
    };
}
