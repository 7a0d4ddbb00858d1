//! The collectives: what each is, and the algorithms that carry it out.
//!
//! A collective is a folder with an `INFO` and a file per algorithm, and a line in the list below. Everything
//! that speaks of collectives in general reads [`CollectiveInfo`]: selection, the verifier's contracts, tools,
//! and the crates above. So a new collective is described once.
//!
//! | collective | send buffer | receive buffer | combines |
//! |---|---|---|---|
//! | allgather | a block, of everybody | a block from each, at everybody | nothing |
//! | allreduce | a vector, of everybody | a vector, at everybody | all |
//! | alltoall | a block for each, of everybody | a block from each, at everybody | nothing |
//! | barrier | none | none | nothing |
//! | bcast | none: the root's receive buffer | a vector, at everybody | nothing |
//! | exscan | a vector, of everybody | a vector, at everybody but rank 0 | those of lower ranks |
//! | gather | a block, of everybody | a block from each, at the root | nothing |
//! | reduce | a vector, of everybody | a vector, at the root | all |
//! | reduce_scatter_block | a block for each, of everybody | a block, at everybody | all |
//! | scan | a vector, of everybody | a vector, at everybody | those of lower ranks and the own one |
//! | scatter | a block for each, of the root | a block, at everybody | nothing |

pub(crate) mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod exscan;
mod gather;
mod info;
mod reduce;
mod reduce_scatter_block;
mod scan;
mod scatter;

pub use info::{CollectiveInfo, Combines, Functions, Holds, Side, Whose};
pub use reduce_scatter_block::Uneven;

macro_rules! collectives {
    ($($folder:ident: $collective:ident),* $(,)?) => {
        /// A collective of one group, or of two.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the variants are the standard's names")]
        pub enum Collective {
            $($collective),*
        }

        impl Collective {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$collective),*];

            /// Their names.
            pub const NAMES: &[&str] = &[$($folder::INFO.name),*];

            /// What there is to know of it.
            pub const fn info(self) -> &'static CollectiveInfo {
                match self {
                    $(Self::$collective => {
                        // One for all, so that algorithms can be told apart by where they are.
                        static INFO: CollectiveInfo = $folder::INFO;
                        &INFO
                    }),*
                }
            }
        }
    };
}

collectives! {
    allgather: Allgather,
    allreduce: Allreduce,
    alltoall: Alltoall,
    barrier: Barrier,
    bcast: Bcast,
    exscan: Exscan,
    gather: Gather,
    reduce: Reduce,
    reduce_scatter_block: ReduceScatterBlock,
    scan: Scan,
    scatter: Scatter,
}

impl Collective {
    /// The standard's name, in lower case: what overrides and tools call it.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The collective that is called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|collective| collective.name() == name)
    }
}
