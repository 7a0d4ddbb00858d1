//! Where requests come from, to name those that a program forgets. Kept with `OXMPI_CHECK` alone.

use oxmpi_engine::Key;

use crate::envelope::Route;

/// By place of the request: its number as a word, and where it comes from.
#[derive(Debug, Default)]
pub(crate) struct Origins(Option<Vec<Option<(u64, Origin)>>>);

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The number of the function that made it.
    pub function: u16,
    /// Of a message.
    pub route: Option<Route>,
}

impl Origins {
    /// Keeps them from now on.
    pub(crate) fn begin(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Whether they are kept.
    #[inline]
    pub(crate) fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Notes that of a request, in place of one that is no more.
    #[cold]
    pub(super) fn note<T>(&mut self, key: Key<T>, function: u16) {
        let Some(origins) = &mut self.0 else { return };
        if origins.len() <= key.place() {
            origins.resize(key.place() + 1, None);
        }
        origins[key.place()] = Some((key.to_word(), Origin { function, route: None }));
    }

    /// Notes the route of a message.
    #[cold]
    pub(super) fn note_route<T>(&mut self, key: Key<T>, route: Route) {
        let place = self.0.as_mut().and_then(|origins| origins.get_mut(key.place()));
        if let Some(Some((noted, origin))) = place
            && *noted == key.to_word()
        {
            origin.route = Some(route);
        }
    }

    /// All that were noted; requests among them may be no more.
    pub(super) fn iter<T>(&self) -> impl Iterator<Item = (Key<T>, Origin)> {
        self.0.iter().flatten().flatten().map(|&(word, origin)| (Key::from_word(word), origin))
    }
}
