//! What is said on standard error, once: whoever waits for it would wait without a word.

use oxmpi_base::Error;
use oxmpi_system::notice::say;

use crate::lack::LACK;
use crate::silence::UNANSWERED;

/// What was said.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    of_silence: bool,
    of_memory: bool,
    of_lack: bool,
}

impl Complaints {
    /// A peer answers nothing.
    #[cold]
    pub(crate) fn of_silence(&mut self, host: Option<String>) {
        let name = host.unwrap_or_else(|| "a host".to_owned());
        say_once(
            &mut self.of_silence,
            format_args!(
                "{name} has answered nothing for {} s, and refused nothing: what is sent to it, or by it, is \
                 dropped on the way, by a firewall perhaps; it is waited for",
                UNANSWERED.as_secs(),
            ),
        );
    }

    /// There is no memory for what is to be sent.
    #[cold]
    pub(crate) fn of_lack(&mut self) {
        say_once(&mut self.of_lack, format_args!("{LACK}; it is waited for, since something is under way"));
    }

    /// Memory cannot be registered.
    #[cold]
    pub(crate) fn of_memory(&mut self, error: &Error) {
        say_once(
            &mut self.of_memory,
            format_args!(
                "{}: what the network is to carry waits until it can; `ulimit -l` says how much memory may \
                 be locked",
                error.text(),
            ),
        );
    }
}

fn say_once(was_said: &mut bool, what: std::fmt::Arguments<'_>) {
    if !std::mem::replace(was_said, true) {
        say(what);
    }
}
