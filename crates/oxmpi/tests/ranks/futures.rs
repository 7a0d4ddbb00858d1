//! Requests that are awaited: polled when they are over, and not before.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use oxmpi::{Environment, ErrorClass, Multiple, Op, Result};

use crate::job::{RANKS, is_rank, on_ranks, start, text};

/// Tasks of one thread, of which those are polled that were woken.
struct Tasks<'a> {
    all: Vec<Option<Pin<Box<dyn Future<Output = ()> + 'a>>>>,
    woken: Arc<Mutex<Vec<usize>>>,
    polls: usize,
}

/// The waker of one of them.
struct Task {
    index: usize,
    woken: Arc<Mutex<Vec<usize>>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.woken.lock().expect("no panic").push(self.index);
    }
}

impl<'a> Tasks<'a> {
    fn new() -> Self {
        Self { all: Vec::new(), woken: Arc::default(), polls: 0 }
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + 'a) {
        self.woken.lock().expect("no panic").push(self.all.len());
        self.all.push(Some(Box::pin(task)));
    }

    /// Polls those that were woken; how many are left.
    fn run(&mut self) -> usize {
        let woken = mem::take(&mut *self.woken.lock().expect("no panic"));
        for index in woken {
            let waker = Waker::from(Arc::new(Task { index, woken: Arc::clone(&self.woken) }));
            let Some(task) = &mut self.all[index] else { continue };
            self.polls += 1;
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                self.all[index] = None;
            }
        }
        self.all.iter().flatten().count()
    }
}

fn neighbors<L: oxmpi::ThreadLevel>(env: &Environment<L>) -> (usize, usize, usize) {
    let (rank, size) = (env.world().rank(), env.world().size());
    (rank, (rank + 1) % size, (rank + size - 1) % size)
}

#[test]
fn of_many_futures_those_are_polled_whose_operations_are_over() {
    on_ranks("futures::of_many_futures_those_are_polled_whose_operations_are_over", |env| {
        const MANY: usize = 10_000;
        let world = env.world();
        let (rank, right, left) = neighbors(env);
        let numbers: Vec<[usize; 1]> = (0..MANY).map(|number| [number * (1 + rank)]).collect();
        let mut received = vec![[usize::MAX]; MANY];
        let arrived = Cell::new(0);
        world.scope(|scope| {
            let mut tasks = Tasks::new();
            for (number, buf) in received.iter_mut().enumerate() {
                let receive = scope.recv(buf, left, number as i32)?;
                let arrived = &arrived;
                tasks.spawn(async move {
                    let (buf, status) = receive.await.expect("it fits");
                    assert_eq!((buf[0], status.source()), (number * (1 + left), Some(left)));
                    arrived.set(arrived.get() + 1);
                });
            }
            assert_eq!(tasks.run(), MANY);
            assert_eq!((tasks.polls, env.driver().progress()), (MANY, 0));
            world.barrier()?; // nobody sends before all have looked
            for (number, buf) in numbers.iter().enumerate() {
                let _ = scope.send(buf, right, number as i32)?;
                if number % 100 == 0 {
                    env.driver().progress();
                    tasks.run();
                    assert_eq!(tasks.polls, MANY + arrived.get(), "one for each that is over");
                }
            }
            while tasks.run() > 0 {
                env.driver().progress();
            }
            assert_eq!((tasks.polls, arrived.get()), (2 * MANY, MANY));
            Ok(())
        })
    });
}

#[test]
fn a_future_runs_through_messages_collectives_and_persistent_requests() {
    on_ranks("futures::a_future_runs_through_messages_collectives_and_persistent_requests", |env| {
        let (world, driver) = (env.world(), env.driver());
        let (rank, right, left) = neighbors(env);
        let (mine, mut theirs, mut sum) = ([rank], [[usize::MAX]; 20], [0]);
        world.scope(|scope| {
            driver.block_on(async {
                for (step, buf) in (0..).zip(&mut theirs) {
                    let receive = scope.recv(buf, left, step)?;
                    scope.ssend(&mine, right, step)?.await?;
                    let (buf, status) = receive.await?;
                    assert_eq!((&buf[..], status.tag()), (&[left][..], Some(step)));
                }
                let (sum, _) = scope.allreduce(&mine, &mut sum, &Op::SUM)?.await?;
                assert_eq!(sum[0], (0..world.size()).sum());
                Ok(())
            })
        })?;
        let mut total = world.allreduce_init(vec![0], vec![0], &Op::SUM)?;
        driver.block_on(async {
            for step in 0..20 {
                total.send_buf_mut()[0] = step + rank;
                total = total.start()?.await?;
                assert_eq!(total.recv_buf()[0], (0..world.size()).map(|rank| step + rank).sum());
            }
            let recv = world.precv_init(vec![usize::MAX; 6], 2, left, 0)?.start()?;
            drop(world.psend_init(vec![rank; 6], 3, right, 0)?.start()?.await?);
            assert_eq!(recv.await?.buf(), [left; 6]);
            Ok(())
        })
    });
}

#[test]
fn a_future_that_is_dropped_wakes_nobody_and_leaves_its_operation_to_the_scope() {
    on_ranks("futures::a_future_that_is_dropped_wakes_nobody_and_leaves_its_operation_to_the_scope", |env| {
        let world = env.world();
        let (rank, right, left) = neighbors(env);
        let (mine, mut theirs) = ([rank], [usize::MAX]);
        let woken = Arc::default();
        let task = Arc::new(Task { index: 0, woken: Arc::clone(&woken) });
        world.scope(|scope| {
            let mut receive = scope.recv(&mut theirs, left, 0)?.into_future();
            let waker = Waker::from(Arc::clone(&task));
            assert!(pin!(&mut receive).poll(&mut Context::from_waker(&waker)).is_pending());
            assert_eq!(Arc::strong_count(&task), 3);
            drop((receive, waker));
            assert_eq!(Arc::strong_count(&task), 1);
            world.barrier()?;
            scope.send(&mine, right, 0).map(drop)
        })?;
        env.driver().progress();
        assert!(woken.lock().expect("no panic").is_empty());
        assert_eq!(theirs, [left]);
        Ok(())
    });
}

/// A waker that fails.
struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("on purpose");
    }
}

#[test]
fn a_waker_that_panics_keeps_no_other_from_its_task() {
    on_ranks("futures::a_waker_that_panics_keeps_no_other_from_its_task", |env| {
        let world = env.world();
        let (rank, right, left) = neighbors(env);
        let (mine, mut first, mut second) = ([rank], [usize::MAX], [usize::MAX]);
        world.scope(|scope| {
            let woken = Arc::default();
            let task = Waker::from(Arc::new(Task { index: 7, woken: Arc::clone(&woken) }));
            let receives = [scope.recv(&mut first, left, 0)?, scope.recv(&mut second, left, 1)?];
            let mut receives = receives.map(IntoFuture::into_future);
            for (receive, waker) in receives.iter_mut().zip([&Waker::from(Arc::new(Panics)), &task]) {
                assert!(pin!(receive).poll(&mut Context::from_waker(waker)).is_pending());
            }
            for tag in [0, 1] {
                let _ = scope.send(&mine, right, tag)?;
            }
            world.barrier()?; // both have come, or are under way
            let progress = || while env.driver().progress() == 0 {};
            assert!(panic::catch_unwind(AssertUnwindSafe(progress)).is_err());
            while woken.lock().expect("no panic").is_empty() {
                env.driver().progress();
            }
            assert_eq!(*woken.lock().expect("no panic"), [7]);
            Ok(())
        })
    });
}

#[test]
fn a_future_tells_how_its_operation_has_failed() {
    on_ranks("futures::a_future_tells_how_its_operation_has_failed", |env| {
        let world = env.world();
        let (rank, right, left) = neighbors(env);
        let (mine, mut short) = ([rank; 2], [0]);
        world.scope(|scope| {
            let receive = scope.recv(&mut short, left, 0)?;
            let _ = scope.send(&mine, right, 0)?;
            let failed = env.driver().block_on(receive.into_future()).expect_err("it is too short");
            assert_eq!(failed.class(), ErrorClass::Truncate);
            Ok(())
        })
    });
}

#[test]
fn whatever_wakes_the_future_wakes_the_thread_that_runs_it() {
    on_ranks("futures::whatever_wakes_the_future_wakes_the_thread_that_runs_it", |env| {
        let shared = Arc::new((AtomicBool::new(false), Mutex::new(None::<Waker>)));
        let other = Arc::clone(&shared);
        let waker = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50)); // so that it sleeps, most of the time
            other.0.store(true, Ordering::Relaxed);
            if let Some(waker) = other.1.lock().expect("no panic").take() {
                waker.wake();
            }
        });
        env.driver().block_on(poll_fn(|context| {
            *shared.1.lock().expect("no panic") = Some(context.waker().clone());
            if shared.0.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }
        }));
        waker.join().expect("no panic");
        Ok(())
    });
}

const THREADS: &str = "futures::one_thread_wakes_the_tasks_of_all";

#[test]
fn one_thread_wakes_the_tasks_of_all() {
    if is_rank() {
        return await_on_threads().expect("the calls succeed");
    }
    for ranks in RANKS {
        let output = start(THREADS, ranks);
        assert!(output.status.success(), "{ranks} ranks: {}\n{}", output.status, text(&output));
    }
}

/// Tasks of threads that know nothing of MPI but their requests.
fn await_on_threads() -> Result<()> {
    const MANY: usize = 3;
    let env = oxmpi::init_with::<Multiple>()?;
    let world = env.world();
    let left = AtomicUsize::new(MANY);
    let sums = (0..MANY)
        .map(|number| world.duplicate()?.allreduce_init(vec![number], vec![0], &Op::SUM))
        .collect::<Result<Vec<_>>>()?;
    let last = Arc::new(Mutex::new(None::<Waker>));
    thread::scope(|threads| {
        for (number, mut sum) in sums.into_iter().enumerate() {
            let (last, left, size) = (Arc::clone(&last), &left, world.size());
            threads.spawn(move || {
                park_on(async {
                    for _ in 0..30 {
                        sum = sum.start().expect("it is inactive").await.expect("all take part");
                        assert_eq!(sum.recv_buf(), [number * size]);
                    }
                });
                left.fetch_sub(1, Ordering::Release);
                if let Some(waker) = last.lock().expect("no panic").take() {
                    waker.wake();
                }
            });
        }
        env.driver().block_on(poll_fn(|context| {
            *last.lock().expect("no panic") = Some(context.waker().clone());
            if left.load(Ordering::Acquire) == 0 { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
    Ok(())
}

/// The simplest executor: its thread is parked until the future is woken.
fn park_on(future: impl Future<Output = ()>) {
    struct Unpark(thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    while future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
        thread::park();
    }
}
