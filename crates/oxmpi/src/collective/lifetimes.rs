//! The methods of a collective, for all lifetimes of its operations.
//!
//! What a call says is written once, with buffers as a blocking call takes them. The other forms differ from it in what
//! becomes of the buffers alone:
//!
//! | form | method of | its buffers |
//! |---|---|---|
//! | blocking, `x` | `Communicator` | lent to the call |
//! | nonblocking, `x` | `Scope` | lent to the scope; what is received into comes back with the request |
//! | nonblocking, `ix` | `Communicator` | kept by the request |
//! | persistent, `x_init` | `Communicator` | kept by the request |
//! | persistent, `x_init` | `Scope` | lent to the scope; the request gives access to them while it is inactive |

/// `name iname name_init "what it is called" (buffers and arguments) gives "..." => collective`, which is made of loans
/// of the buffers. With two buffers these are `&send` and `&mut recv`, with one it is `&mut buf`; arguments may stand
/// behind each. Types of arguments can name the buffers' types, which are `S`, `R` and `B`.
///
/// Each form has an [example](crate::example): what stands behind buffers and arguments, `= "..."`, is what they are
/// there, and `gives` what has been received then, on two ranks: in all of the buffer, or `at` a place of it; `on` the
/// world, or another communicator.
macro_rules! lifetimes {
    (
        $(#[$doc:meta])*
        $name:ident $nonblocking:ident $persistent:ident $what:literal
        (&mut $buf:ident = $value:literal $(, $argument:ident: $type:ty = $given:literal)*)
        gives $gives:literal $(at $place:literal)? $(on $on:ident)? => $collective:expr
    ) => {
        impl<'env, L: crate::ThreadLevel> crate::Communicator<'env, L> {
            $(#[$doc])*
            #[doc = example_on_one!(blocking ($($on)?), $name($value ($($given)*)), $gives $(at $place)?)]
            pub fn $name<B>(&self, $buf: &mut B $(, $argument: $type)*) -> oxmpi_base::Result<()>
            where
                B: crate::SendBuffer + crate::RecvBuffer + ?Sized,
            {
                let $buf = $buf.lend_mut();
                self.blocking($collective)
            }

            #[doc = concat!("A persistent [", $what, "](crate::Communicator::", stringify!($name), ").")]
            ///
            /// # Errors
            #[doc = concat!("As [`Communicator::", stringify!($name), "`](crate::Communicator::",
                stringify!($name),
                ") and [`Communicator::barrier_init`](crate::Communicator::barrier_init).")]
            #[doc = example_on_one!(
                persistent ($($on)?), $persistent($value ($($given)*)), $gives $(at $place)?
            )]
            pub fn $persistent<B>(
                &self,
                $buf: B
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::Persistent<'env, crate::One<B::Element>, L>>
            where
                B: crate::OwnedBuffer,
            {
                self.on_one($buf, |$buf| $collective)
            }

            #[doc = concat!("Begins a nonblocking [", $what, "](crate::Communicator::",
                stringify!($name), "),")]
            /// on a buffer that the request keeps until its end.
            ///
            /// # Errors
            #[doc = concat!("As [`Communicator::", stringify!($name), "`](crate::Communicator::",
                stringify!($name), ").")]
            #[doc = example_on_one!(
                nonblocking ($($on)?), $nonblocking($value ($($given)*)), $gives $(at $place)?
            )]
            pub fn $nonblocking<B>(
                &self,
                $buf: B
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::OwnedRequest<'env, crate::One<B::Element>, L>>
            where
                B: crate::OwnedBuffer,
            {
                self.begin_on_one($buf, |$buf| $collective)
            }
        }

        impl<'scope, 'env: 'scope, L: crate::ThreadLevel> crate::Scope<'scope, 'env, L> {
            #[doc = concat!("Begins a nonblocking [", $what, "](crate::Communicator::",
                stringify!($name), ").")]
            ///
            /// # Errors
            #[doc = concat!("As [`Communicator::", stringify!($name), "`](crate::Communicator::",
                stringify!($name), ").")]
            #[doc = example_on_one!(scope ($($on)?), $name($value ($($given)*)), $gives $(at $place)?)]
            pub fn $name<B>(
                &'scope self,
                $buf: &'scope mut B
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::Request<'scope, &'scope mut B::View, L>>
            where
                B: crate::SendBuffer + crate::RecvBuffer + ?Sized,
            {
                let (result, $buf) = crate::loan::Withheld::lent($buf);
                self.collective($collective, result)
            }

            #[doc = concat!("A persistent [", $what, "](crate::Communicator::", stringify!($name), "),")]
            /// in what the scope has borrowed.
            ///
            /// # Errors
            #[doc = concat!("As [`Communicator::", stringify!($persistent), "`](crate::Communicator::",
                stringify!($persistent), ").")]
            #[doc = example_on_one!(
                scope_init ($($on)?), $persistent($value ($($given)*)), $gives $(at $place)?
            )]
            pub fn $persistent<B>(
                &'scope self,
                $buf: &'scope mut B
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<
                crate::Persistent<'scope, crate::OneLent<'scope, B::View>, L>,
            >
            where
                B: crate::SendBuffer + crate::RecvBuffer + ?Sized,
                B::View: crate::Access<Element = B::Element>,
            {
                self.prepare(crate::Lent::of($buf).within(crate::One::new).describe(|$buf| $collective))
            }
        }
    };
    (
        $(#[$doc:meta])*
        $name:ident $nonblocking:ident $persistent:ident $what:literal
        (
            &$send:ident = $sent:literal $(, $of_send:ident: $type_of_send:ty = $given_of_send:literal)*,
            &mut $recv:ident = $value:literal $(, $argument:ident: $type:ty = $given:literal)*
        )
        gives $gives:literal $(on $on:ident)? => $collective:expr
    ) => {
        impl<'env, L: crate::ThreadLevel> crate::Communicator<'env, L> {
            $(#[$doc])*
            #[doc = example_on_two!(
                blocking ($($on)?), $name($sent ($($given_of_send)*); $value ($($given)*)), $gives
            )]
            pub fn $name<S, R>(
                &self,
                $send: &S
                $(, $of_send: $type_of_send)*,
                $recv: &mut R
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<()>
            where
                S: crate::SendBuffer<Element = R::Element> + ?Sized,
                R: crate::RecvBuffer + ?Sized,
            {
                let ($send, $recv) = ($send.lend(), $recv.lend_mut());
                self.blocking($collective)
            }

            #[doc = concat!("A persistent [", $what, "](crate::Communicator::", stringify!($name), ").")]
            ///
            /// # Errors
            #[doc = concat!("As [`Communicator::", stringify!($name), "`](crate::Communicator::",
                stringify!($name),
                ") and [`Communicator::barrier_init`](crate::Communicator::barrier_init).")]
            #[doc = example_on_two!(
                persistent ($($on)?), $persistent($sent ($($given_of_send)*); $value ($($given)*)), $gives
            )]
            pub fn $persistent<S, R>(
                &self,
                $send: S
                $(, $of_send: $type_of_send)*,
                $recv: R
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::Persistent<'env, crate::Two<R::Element>, L>>
            where
                S: crate::OwnedBuffer<Element = R::Element>,
                R: crate::OwnedBuffer,
            {
                self.on_two($send, $recv, |$send, $recv| $collective)
            }

            #[doc = concat!("Begins a nonblocking [", $what, "](crate::Communicator::",
                stringify!($name), "),")]
            /// on buffers that the request keeps until its end.
            ///
            /// # Errors
            #[doc = concat!("As [`Communicator::", stringify!($name), "`](crate::Communicator::",
                stringify!($name), ").")]
            #[doc = example_on_two!(
                nonblocking ($($on)?), $nonblocking($sent ($($given_of_send)*); $value ($($given)*)), $gives
            )]
            pub fn $nonblocking<S, R>(
                &self,
                $send: S
                $(, $of_send: $type_of_send)*,
                $recv: R
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::OwnedRequest<'env, crate::Two<R::Element>, L>>
            where
                S: crate::OwnedBuffer<Element = R::Element>,
                R: crate::OwnedBuffer,
            {
                self.begin_on_two($send, $recv, |$send, $recv| $collective)
            }
        }

        impl<'scope, 'env: 'scope, L: crate::ThreadLevel> crate::Scope<'scope, 'env, L> {
            #[doc = concat!("Begins a nonblocking [", $what, "](crate::Communicator::",
                stringify!($name), ").")]
            ///
            /// # Errors
            #[doc = concat!("As [`Communicator::", stringify!($name), "`](crate::Communicator::",
                stringify!($name), ").")]
            #[doc = example_on_two!(
                scope ($($on)?), $name($sent ($($given_of_send)*); $value ($($given)*)), $gives
            )]
            pub fn $name<S, R>(
                &'scope self,
                $send: &'scope S
                $(, $of_send: $type_of_send)*,
                $recv: &'scope mut R
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::Request<'scope, &'scope mut R::View, L>>
            where
                S: crate::SendBuffer<Element = R::Element> + ?Sized,
                R: crate::RecvBuffer + ?Sized,
            {
                let (result, $recv) = crate::loan::Withheld::lent($recv);
                let $send = $send.lend();
                self.collective($collective, result)
            }

            #[doc = concat!("A persistent [", $what, "](crate::Communicator::", stringify!($name), "),")]
            /// in what the scope has borrowed: what is sent can be changed while the request is inactive.
            ///
            /// # Errors
            #[doc = concat!("As [`Communicator::", stringify!($persistent), "`](crate::Communicator::",
                stringify!($persistent), ").")]
            #[doc = example_on_two!(
                scope_init ($($on)?), $persistent($sent ($($given_of_send)*); $value ($($given)*)), $gives
            )]
            pub fn $persistent<S, R>(
                &'scope self,
                $send: &'scope mut S
                $(, $of_send: $type_of_send)*,
                $recv: &'scope mut R
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<
                crate::Persistent<'scope, crate::TwoLent<'scope, S::View, R::View>, L>,
            >
            where
                S: crate::SendBuffer<Element = R::Element> + crate::RecvBuffer + ?Sized,
                S::View: crate::Access<Element = R::Element>,
                R: crate::SendBuffer + crate::RecvBuffer + ?Sized,
                R::View: crate::Access<Element = R::Element>,
            {
                let both = crate::Lent::of($send).and(crate::Lent::of($recv));
                let both = both.within(|(send, recv)| crate::Two::new(send, recv));
                self.prepare(both.describe(|($send, $recv)| $collective))
            }
        }
    };
}

pub(super) use lifetimes;
