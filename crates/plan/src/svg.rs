//! The plans of all ranks as a picture.
//!
//! A column for each rank, a box for each step, an arrow for each message and pull. What a step needs stands
//! above it. Of a plan of several segments it shows how one segment passes: steps with less delay come first.

use std::collections::HashMap;
use std::fmt::Write;

use crate::peers::groups::counted_through;
use crate::{Action, Overview, Peer, Plan, Shape};

/// Draws the plans of all ranks of `shape`.
pub fn svg(plans: &[Plan], shape: &Shape) -> String {
    let title = format!("{}, {} ranks, {} bytes", shape.collective.name(), shape.ranks, shape.bytes);
    draw_all(plans, &title, Columns { first: shape.ranks, ranks: shape.ranks })
}

/// Draws the plans of both groups of `overview`; those of the second follow those of the first.
pub fn svg_between(plans: &[Plan], overview: &Overview) -> String {
    let Overview { first, second, bytes, .. } = overview;
    let title = format!("{}, {first} and {second} ranks, {} bytes", overview.collective.name(), bytes[0]);
    draw_all(plans, &title, Columns { first: *first, ranks: overview.ranks() })
}

fn draw_all(plans: &[Plan], title: &str, columns: Columns) -> String {
    let picture = Picture::new(plans, columns);
    let width = MARGIN * 2 + plans.len() as u32 * COLUMN;
    let height = TOP + picture.rows.iter().flatten().max().map_or(0, |row| row + 1) * ROW + MARGIN;
    let mut out = String::new();
    draw(&mut out, format_args!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'"));
    draw(
        &mut out,
        format_args!(" width='{width}' height='{height}' font-family='sans-serif' font-size='11'>\n"),
    );
    draw(&mut out, format_args!("{MARKER}<rect width='{width}' height='{height}' fill='white'/>\n"));
    let segments = plans.iter().map(|plan| plan.segments).max().unwrap_or(1);
    let title = format_args!("{title}, segments: {segments}");
    draw(&mut out, format_args!("<text x='{MARGIN}' y='16' font-size='13'>{title}</text>\n"));
    for (rank, plan) in plans.iter().enumerate() {
        let (x, name) = (center(rank), columns.name(rank as u32));
        draw(&mut out, format_args!("<text x='{x}' y='38' text-anchor='middle'>rank {name}</text>\n"));
        let (top, bottom) = (TOP - 8, height - MARGIN);
        draw(&mut out, format_args!("<path d='M{x} {top}V{bottom}' stroke='#ccc'/>\n"));
        for (index, step) in plan.steps.iter().enumerate() {
            let (label, color) = label(&step.action, |peer| columns.name_of_peer(rank, peer));
            let y = TOP + picture.rows[rank][index] * ROW;
            let left = x - BOX / 2;
            draw(&mut out, format_args!("<g><title>{index}: {step}</title><rect x='{left}' y='{y}' rx='3'"));
            draw(
                &mut out,
                format_args!(" width='{BOX}' height='{BOX_HEIGHT}' fill='{color}' stroke='#555'/>"),
            );
            let base = y + BOX_HEIGHT - 6;
            draw(
                &mut out,
                format_args!("<text x='{x}' y='{base}' text-anchor='middle'>{label}</text></g>\n"),
            );
        }
    }
    for &(from, to) in &picture.arrows {
        picture.draw_arrow(&mut out, from, to);
    }
    out.push_str("</svg>\n");
    out
}

/// Who stands in which column: the ranks of one group, or of two.
#[derive(Clone, Copy)]
struct Columns {
    /// Ranks of the first group.
    first: u32,
    /// Ranks of both.
    ranks: u32,
}

impl Columns {
    /// What a rank is called: by its number, and of two groups with a letter for its group.
    fn name(self, rank: u32) -> String {
        match rank.checked_sub(self.first) {
            _ if self.first == self.ranks => rank.to_string(),
            None => format!("A {rank}"),
            Some(rank) => format!("B {rank}"),
        }
    }

    /// The column of whom the rank in a column means by `peer`.
    fn of_peer(self, column: usize, peer: Peer) -> Option<usize> {
        counted_through(self.first, self.ranks, column as u32, peer).map(|column| column as usize)
    }

    fn name_of_peer(self, column: usize, peer: Peer) -> String {
        self.of_peer(column, peer).map_or_else(|| peer.to_string(), |column| self.name(column as u32))
    }
}

/// A step of a rank.
type Place = (usize, usize);

/// Where everything stands.
struct Picture {
    /// For each rank and step, its row.
    rows: Vec<Vec<u32>>,
    arrows: Vec<(Place, Place)>,
}

impl Picture {
    /// Puts each step into the first row below all that it needs.
    fn new(plans: &[Plan], columns: Columns) -> Self {
        let arrows = arrows(plans, columns);
        let sources: HashMap<Place, Place> = arrows.iter().map(|&(from, to)| (to, from)).collect();
        let mut placed: HashMap<Place, u32> = HashMap::new();
        let mut queues: Vec<_> = plans.iter().map(|plan| in_order(plan).into_iter().peekable()).collect();
        let mut next_rows = vec![0; plans.len()];
        let (mut is_moving, mut is_stuck) = (true, false);
        while is_moving || !is_stuck {
            // A plan that would deadlock is drawn all the same: then nothing is waited for any more.
            is_stuck = !is_moving;
            is_moving = false;
            for (rank, queue) in queues.iter_mut().enumerate() {
                while let Some(&index) = queue.peek() {
                    let needs = needs(plans, &sources, (rank, index));
                    let rows: Vec<u32> = needs.iter().filter_map(|need| placed.get(need).copied()).collect();
                    if rows.len() < needs.len() && !is_stuck {
                        break;
                    }
                    let row = rows.into_iter().map(|row| row + 1).max().unwrap_or(0).max(next_rows[rank]);
                    placed.insert((rank, index), row);
                    next_rows[rank] = row + 1;
                    queue.next();
                    is_moving = true;
                }
            }
        }
        let row_of = |rank, index| placed[&(rank, index)];
        let rows = plans
            .iter()
            .enumerate()
            .map(|(rank, plan)| (0..plan.steps.len()).map(|index| row_of(rank, index)).collect());
        Self { rows: rows.collect(), arrows }
    }

    fn draw_arrow(&self, out: &mut String, from: Place, to: Place) {
        let middle = |place: Place| TOP + self.rows[place.0][place.1] * ROW + BOX_HEIGHT / 2;
        let side = |rank: usize, other: usize| {
            if other > rank { center(rank) + BOX / 2 } else { center(rank) - BOX / 2 }
        };
        let (x1, y1) = (side(from.0, to.0), middle(from));
        let (x2, y2) = (side(to.0, from.0), middle(to));
        draw(out, format_args!("<path d='M{x1} {y1}L{x2} {y2}' stroke='#36c' marker-end='url(#tip)'/>\n"));
    }
}

/// The steps of a plan in the order in which one segment meets them.
fn in_order(plan: &Plan) -> Vec<usize> {
    let mut order: Vec<usize> = (0..plan.steps.len()).collect();
    order.sort_by_key(|&index| plan.steps[index].delay);
    order
}

/// What must be over before a step: what it pulls, and the other ends of the messages it comes after.
fn needs(plans: &[Plan], sources: &HashMap<Place, Place>, place: Place) -> Vec<Place> {
    let (rank, index) = place;
    let step = &plans[rank].steps[index];
    let pulled =
        sources.get(&place).filter(|_| matches!(step.action, Action::Excerpt { .. } | Action::Pull { .. }));
    let received = step.after.iter().filter_map(|&earlier| sources.get(&(rank, earlier as usize)));
    pulled.into_iter().chain(received).copied().filter(|&source| source != place).collect()
}

/// From posts to their pulls, and from sends to their receives.
fn arrows(plans: &[Plan], columns: Columns) -> Vec<(Place, Place)> {
    let mut posts = HashMap::new();
    let mut sends: HashMap<(usize, usize), Vec<Place>> = HashMap::new();
    for (rank, index, action) in actions(plans) {
        match action {
            Action::Post { line, .. } => {
                posts.insert((rank, line), (rank, index));
            }
            Action::Send { to, .. } => {
                if let Some(to) = columns.of_peer(rank, to) {
                    sends.entry((rank, to)).or_default().push((rank, index));
                }
            }
            _ => {}
        }
    }
    let mut received: HashMap<(usize, usize), usize> = HashMap::new();
    let mut arrows = Vec::new();
    for (rank, index, action) in actions(plans) {
        let source = match action {
            Action::Excerpt { peer, line, .. } | Action::Pull { peer, line, .. } => {
                columns.of_peer(rank, peer).and_then(|peer| posts.get(&(peer, line)).copied())
            }
            Action::Receive { from, .. } => columns.of_peer(rank, from).and_then(|from| {
                let channel = (from, rank);
                let count = received.entry(channel).or_default();
                *count += 1;
                sends.get(&channel).and_then(|sends| sends.get(*count - 1)).copied()
            }),
            _ => None,
        };
        arrows.extend(source.map(|source| (source, (rank, index))));
    }
    arrows
}

fn actions(plans: &[Plan]) -> impl Iterator<Item = (usize, usize, Action)> + '_ {
    let of_rank = |(rank, plan): (usize, &'_ Plan)| {
        plan.steps
            .iter()
            .map(|step| step.action)
            .enumerate()
            .map(move |(index, action)| (rank, index, action))
            .collect::<Vec<_>>()
    };
    plans.iter().enumerate().flat_map(of_rank)
}

/// What stands in a box, and its color.
fn label(action: &Action, name: impl Fn(Peer) -> String) -> (String, &'static str) {
    match *action {
        Action::Send { to, .. } => (format!("send to {}", name(to)), "#fde2c4"),
        Action::Receive { from, .. } => (format!("receive from {}", name(from)), "#fdf3c4"),
        Action::Copy { .. } => ("copy".to_owned(), "#eee"),
        Action::Reduce { .. } => ("reduce".to_owned(), "#f8d0e0"),
        Action::Post { line, .. } => (format!("post on {line}"), "#cfe8cf"),
        Action::Pull { peer, line, into, .. } if into.bytes == 0 => {
            (format!("wait {}.{line}", name(peer)), "#e4ecf8")
        }
        Action::Excerpt { peer, line, .. } | Action::Pull { peer, line, .. } => {
            (format!("pull {}.{line}", name(peer)), "#cfe0f8")
        }
    }
}

fn center(rank: usize) -> u32 {
    MARGIN + COLUMN / 2 + rank as u32 * COLUMN
}

fn draw(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string does not fail");
}

const MARGIN: u32 = 12;
const TOP: u32 = 52;
const COLUMN: u32 = 150;
const ROW: u32 = 32;
const BOX: u32 = 104;
const BOX_HEIGHT: u32 = 20;
const MARKER: &str = "<defs><marker id='tip' viewBox='0 0 6 6' refX='6' refY='3' markerWidth='6' \
                      markerHeight='6' orient='auto'><path d='M0 0L6 3L0 6Z' fill='#36c'/></marker></defs>\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collective, Nodes, Overrides, compile, select};

    fn plans(collective: Collective, overrides: &str) -> (Vec<Plan>, Shape) {
        let overrides = Overrides::parse(overrides).expect("it is known");
        let shape = Shape { unit: 8, ..Shape::of(collective, 4, 1 << 20) };
        ((0..4).map(|rank| compile(&shape, rank, false, &overrides)).collect(), shape)
    }

    #[test]
    fn every_step_gets_a_box_and_what_it_needs_stands_above_it() {
        for overrides in ["", "allreduce=ring", "allreduce=recursive-doubling"] {
            let (plans, shape) = plans(Collective::Allreduce, overrides);
            let steps: usize = plans.iter().map(|plan| plan.steps.len()).sum();
            assert_eq!(svg(&plans, &shape).matches("<g>").count(), steps);
            let picture = Picture::new(&plans, Columns { first: 4, ranks: 4 });
            for (from, to) in picture.arrows {
                let is_pull = matches!(plans[to.0].steps[to.1].action, Action::Pull { .. });
                let (above, below) = (picture.rows[from.0][from.1], picture.rows[to.0][to.1]);
                assert!(above < below || !is_pull, "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn between_groups_every_message_and_pull_has_its_arrow() {
        for (collective, nodes) in [
            (Collective::Allreduce, Nodes::One),
            (Collective::Allreduce, Nodes::APART),
            (Collective::Barrier, Nodes::APART),
        ] {
            let bytes = if collective == Collective::Barrier { 0 } else { 1 << 16 };
            let overview =
                Overview { collective, root: 0, first: 2, second: 3, bytes: [bytes; 2], unit: 8, nodes };
            let chosen = select(&overview.shape(0), &Overrides::default());
            let plans: Vec<_> = (0..5).map(|rank| overview.plan(chosen, rank)).collect();
            let needs_arrow =
                |step: &&crate::Step| matches!(step.action, Action::Pull { .. } | Action::Receive { .. });
            let expected = plans.iter().flat_map(|plan| &plan.steps).filter(needs_arrow).count();
            let text = svg_between(&plans, &overview);
            assert_eq!(text.matches("marker-end").count(), expected, "{overview:?}");
            assert!(text.contains("rank A 1") && text.contains("rank B 2"));
        }
    }

    #[test]
    fn a_plan_that_would_block_is_drawn_all_the_same() {
        let (mut plans, shape) = plans(Collective::Allreduce, "allreduce=node-flat");
        plans[0].steps.rotate_left(1);
        plans[1].steps.rotate_left(1);
        assert!(svg(&plans, &shape).ends_with("</svg>\n"));
    }
}
