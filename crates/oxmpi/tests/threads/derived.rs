//! Structures that macros declare, and such as have all that a declaration can have.

use oxmpi::{Communicator, Datatype, Result};

macro_rules! declared {
    ($visibility:vis struct $name:ident { $($field_visibility:vis $field:ident: $of_type:ty),* $(,)? }) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Datatype)]
        $visibility struct $name {
            $($field_visibility $field: $of_type),*
        }
    };
}

declared! {
    pub struct Node {
        pub position: [f64; 3],
        weight: (u8, u32),
        pub(crate) r#type: Level,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Datatype)]
#[repr(i16)]
pub enum Level {
    /// Without neighbours.
    #[default]
    Coarse = -(1 << 3),
    Fine = 7,
}

#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
struct Pair<T: Default, U = u8, const N: usize = { 1 + 1 }>(pub (Node, T), pub(crate) [U; N])
where
    [U; N]: Copy;

#[oxmpi::test(ranks = [1, 3])]
fn all_of_them_arrive(world: Communicator<'_>) -> Result<()> {
    let mut pair = Pair::<_, i16>((Node::default(), 0_u64), [0; 2]);
    if world.rank() == 0 {
        let node = Node { position: [1.0, 2.0, 3.0], weight: (4, 5), r#type: Level::Fine };
        pair = Pair((node, 6), [-7, 8]);
    }
    world.bcast(&mut pair, 0)?;
    let Pair((node, number), rest) = pair;
    assert_eq!((node.position, node.weight, node.r#type), ([1.0, 2.0, 3.0], (4, 5), Level::Fine));
    assert_eq!((number, rest), (6, [-7, 8]));
    Ok(())
}
