//! The lines that a rank offers for a channel which several open together, and takes back if nothing comes of it.
//!
//! A rank without shared memory for its lines, or without private memory, takes part all the same and says so: then all
//! ranks fail alike, and none waits for it.

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::{Engine, Form, Lines};
use oxmpi_mem::reserve::{Growth, has_room};

/// The offset that a rank tells when it found no memory for its lines.
pub(crate) const NO_LINES: u64 = u64::MAX;

/// Fails if a rank has no lines; `offsets` are what the ranks of `group` tell, by rank.
///
/// # Errors
/// `NoMem`.
pub(crate) fn check_lines(group: &str, offsets: impl IntoIterator<Item = u64>) -> Result<()> {
    match offsets.into_iter().position(|offset| offset == NO_LINES) {
        None => Ok(()),
        Some(rank) => {
            let text = format!("rank {rank} of the {group} has no memory left for its collectives");
            Err(Error::new(ErrorClass::NoMem, text))
        }
    }
}

/// Lines of this form for a channel, unless there is no one to see them; and the offset to tell the others. A process
/// that is alone needs private memory, too.
pub(crate) fn offer_lines(engine: &mut Engine, members: u32, form: Form) -> (u64, Option<Lines>) {
    if !has_room(engine.growth_of_channels().max(Growth::Within)) {
        return (NO_LINES, None);
    }
    if members == 1 {
        return (0, None);
    }
    let lines = engine.take_lines(form).ok();
    (lines.as_ref().map_or(NO_LINES, Lines::offset), lines)
}

/// Takes back what was offered to a channel that nobody opens.
pub(crate) fn withdraw(engine: &mut Engine, contexts: &[u32], lines: Option<Lines>) {
    contexts.iter().for_each(|&context| engine.p2p.close_context(context));
    if let Some(lines) = lines {
        engine.give_lines(lines);
    }
}

/// Gives up the contexts that were offered to a channel which is not opened here, since this rank has failed to hear
/// of the others, or they do not fit it. They may have opened it: so neither these nor its lines, which are not given
/// back, ever serve anything else.
#[cold]
pub(crate) fn abandon(engine: &mut Engine, contexts: &[u32]) {
    contexts.iter().for_each(|&context| engine.p2p.end_context(context));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_without_lines_fails_all_and_is_named() {
        assert!(check_lines("group", [0, 4096]).is_ok());
        let error = check_lines("group", [0, NO_LINES, NO_LINES]).expect_err("two have none");
        assert_eq!(error.class(), ErrorClass::NoMem);
        assert!(error.text().contains("rank 1 "), "{error:?}");
    }
}
