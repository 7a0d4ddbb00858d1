//! Plans in words: one line per step.

use std::fmt;

use crate::{Action, Buf, Plan, Span, Step, Take};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.segments == 1 { "" } else { "s" };
        writeln!(f, "{} segment{plural}, {} bytes of scratch", self.segments, self.scratch_bytes)?;
        for (index, line) in self.lines.iter().enumerate() {
            let plural = if line.depth == 1 { "" } else { "s" };
            writeln!(f, "line {index}: {} slot{plural} of {} bytes", line.depth, line.slot_bytes)?;
        }
        let digits = self.steps.len().saturating_sub(1).max(1).ilog10() as usize + 1;
        for (index, step) in self.steps.iter().enumerate() {
            writeln!(f, "{index:>digits$}  {step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.action)?;
        if self.delay > 0 {
            write!(f, ", {} behind", self.delay)?;
        }
        if !self.after.is_empty() {
            let after: Vec<_> = self.after.iter().map(u32::to_string).collect();
            write!(f, ", after {}", after.join(" "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send { to, from } => write!(f, "send {from} to {to}"),
            Self::Receive { from, into } => write!(f, "receive {into} from {from}"),
            Self::Copy { from, into } => write!(f, "{into} = {from}"),
            Self::Reduce { left, right, into } => write!(f, "{into} = {left} op {right}"),
            Self::Post { line, from } => write!(f, "post {from} on line {line}"),
            Self::Excerpt { peer, line, begin, into } => {
                write!(f, "{into} = stream on line {line} of {peer} from byte {begin}")
            }
            Self::Pull { peer, line, into, .. } if into.bytes == 0 => {
                write!(f, "wait for line {line} of {peer}")
            }
            Self::Pull { peer, line, skip, into, take } => {
                write!(f, "{into} = ")?;
                if let Take::Right { left } = take {
                    write!(f, "{left} op ")?;
                }
                write!(f, "line {line} of {peer}")?;
                if *skip > 0 {
                    write!(f, " from byte {skip}")?;
                }
                if let Take::Left { right } = take {
                    write!(f, " op {right}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Buf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Send => "send",
            Self::Recv => "recv",
            Self::Scratch => "scratch",
        })
    }
}

/// `recv[0..64]`; a moving span shows its first segment and its stride: `recv[0..64 +128]`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (begin, bytes) = self.at(0);
        if bytes == 0 {
            return f.write_str("nothing");
        }
        write!(f, "{}[{begin}..{}", self.buf, begin + bytes)?;
        if self.stride > 0 && begin + self.stride < self.end {
            write!(f, " +{}", self.stride)?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use crate::{Collective, Overrides, Shape, compile};

    #[test]
    fn a_plan_reads_like_a_recipe() {
        let shape = Shape { unit: 8, commutative: false, ..Shape::of(Collective::Allreduce, 3, 8) };
        let expected = "\
1 segment, 0 bytes of scratch
line 0: 1 slot of 8 bytes
0  post send[0..8] on line 0
1  recv[0..8] = line 0 of 0
2  recv[0..8] = recv[0..8] op line 0 of 1
3  recv[0..8] = recv[0..8] op send[0..8]
";
        assert_eq!(compile(&shape, 2, false, &Overrides::default()).to_string(), expected);
    }
}
