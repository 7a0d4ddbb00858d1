//! The methods of collectives between two groups, for all lifetimes of their operations.
//!
//! | form | method of | its buffers |
//! |---|---|---|
//! | blocking, `x` | `Intercommunicator` | lent to the call |
//! | nonblocking, `x` | `IntercommunicatorScope` | lent to the scope; without a root, what is received into comes back |
//! | nonblocking, `ix` | `Intercommunicator` | kept by the request |
//! | persistent, `x_init` | `Intercommunicator` | kept by the request |
//! | persistent, `x_init` | `IntercommunicatorScope` | lent to the scope |

/// `name iname name_init "what it is called"`, and either `(&send, &mut recv)` with arguments behind each - then it is
/// the same call as within a group - or `(part: Trait<T>)` with arguments behind it, `=> collective`, of which `part`
/// is what this rank lends.
///
/// Each form has an [example](crate::example), as those of `lifetimes!`, of three ranks: the even ones and the odd one,
/// which is the root, if there is one. What stands behind `part` is what one rank sends, and what another one has where
/// it receives that.
macro_rules! between {
    (
        $(#[$doc:meta])*
        $name:ident $nonblocking:ident $persistent:ident $what:literal
        (
            &$send:ident = $sent:literal $(, $of_send:ident: $type_of_send:ty = $given_of_send:literal)*,
            &mut $recv:ident = $value:literal $(, $argument:ident: $type:ty = $given:literal)*
        )
        gives $gives:literal
    ) => {
        impl<'env, L: crate::ThreadLevel> crate::Intercommunicator<'env, L> {
            $(#[$doc])*
            #[doc = example_on_two!(
                blocking (between), $name($sent ($($given_of_send)*); $value ($($given)*)), $gives
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
                self.inner().$name($send $(, $of_send)*, $recv $(, $argument)*)
            }

            #[doc = concat!("Begins a nonblocking [", $what, "](crate::Intercommunicator::",
                stringify!($name), "),")]
            /// on buffers that the request keeps until its end.
            ///
            /// # Errors
            #[doc = concat!("As [`Intercommunicator::", stringify!($name),
                "`](crate::Intercommunicator::", stringify!($name), ").")]
            #[doc = example_on_two!(
                nonblocking (between), $nonblocking($sent ($($given_of_send)*); $value ($($given)*)), $gives
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
                self.inner().$nonblocking($send $(, $of_send)*, $recv $(, $argument)*)
            }

            #[doc = concat!("A persistent [", $what, "](crate::Intercommunicator::", stringify!($name),
                ").")]
            ///
            /// # Errors
            #[doc = concat!("As [`Intercommunicator::", stringify!($name),
                "`](crate::Intercommunicator::", stringify!($name),
                ") and [`Communicator::barrier_init`](crate::Communicator::barrier_init).")]
            #[doc = example_on_two!(
                persistent (between), $persistent($sent ($($given_of_send)*); $value ($($given)*)), $gives
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
                self.inner().$persistent($send $(, $of_send)*, $recv $(, $argument)*)
            }
        }

        impl<'scope, 'env: 'scope, L: crate::ThreadLevel> crate::IntercommunicatorScope<'scope, 'env, L> {
            #[doc = concat!("Begins a nonblocking [", $what, "](crate::Intercommunicator::",
                stringify!($name), ").")]
            ///
            /// # Errors
            #[doc = concat!("As [`Intercommunicator::", stringify!($name),
                "`](crate::Intercommunicator::", stringify!($name), ").")]
            #[doc = example_on_two!(
                scope (between), $name($sent ($($given_of_send)*); $value ($($given)*)), $gives
            )]
            pub fn $name<S, R>(
                self,
                $send: &'scope S
                $(, $of_send: $type_of_send)*,
                $recv: &'scope mut R
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::Request<'scope, &'scope mut R::View, L>>
            where
                S: crate::SendBuffer<Element = R::Element> + ?Sized,
                R: crate::RecvBuffer + ?Sized,
            {
                self.inner().$name($send $(, $of_send)*, $recv $(, $argument)*)
            }

            #[doc = concat!("A persistent [", $what, "](crate::Intercommunicator::", stringify!($name),
                "),")]
            /// in what the scope has borrowed.
            ///
            /// # Errors
            #[doc = concat!("As [`Intercommunicator::", stringify!($persistent),
                "`](crate::Intercommunicator::", stringify!($persistent), ").")]
            #[doc = example_on_two!(
                scope_init (between), $persistent($sent ($($given_of_send)*); $value ($($given)*)), $gives
            )]
            pub fn $persistent<S, R>(
                self,
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
                self.inner().$persistent($send $(, $of_send)*, $recv $(, $argument)*)
            }
        }
    };
    (
        $(#[$doc:meta])*
        $name:ident $nonblocking:ident $persistent:ident $what:literal
        (
            $part:ident: $direction:ident<T> = $sent:literal to $value:literal
            $(, $argument:ident: $type:ty = $given:literal)*
        )
        gives $gives:literal => $collective:expr
    ) => {
        impl<'env, L: crate::ThreadLevel> crate::Intercommunicator<'env, L> {
            $(#[$doc])*
            #[doc = example_with_root!(blocking $direction, $name($sent to $value ($($given)*)), $gives)]
            pub fn $name<'b, T: crate::Datatype>(
                &self,
                $part: impl crate::$direction<'b, T>
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<()> {
                let $part = $part.part();
                self.inner().blocking($collective)
            }

            #[doc = concat!("Begins a nonblocking [", $what, "](crate::Intercommunicator::",
                stringify!($name), "),")]
            /// on what the request keeps until its end.
            ///
            /// # Errors
            #[doc = concat!("As [`Intercommunicator::", stringify!($name),
                "`](crate::Intercommunicator::", stringify!($name), ").")]
            #[doc = example_with_root!(
                nonblocking $direction, $nonblocking($sent to $value ($($given)*)), $gives
            )]
            pub fn $nonblocking<T: crate::Datatype, P: crate::OwnedPart<T>>(
                &self,
                $part: P
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::OwnedRequest<'env, P::Buffers, L>> {
                self.inner().owned_collective($part.keep().describe(|$part| $collective))
            }

            #[doc = concat!("A persistent [", $what, "](crate::Intercommunicator::", stringify!($name),
                ").")]
            ///
            /// # Errors
            #[doc = concat!("As [`Intercommunicator::", stringify!($name),
                "`](crate::Intercommunicator::", stringify!($name),
                ") and [`Communicator::barrier_init`](crate::Communicator::barrier_init).")]
            #[doc = example_with_root!(
                persistent $direction, $persistent($sent to $value ($($given)*)), $gives
            )]
            pub fn $persistent<T: crate::Datatype, P: crate::OwnedPart<T>>(
                &self,
                $part: P
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::Persistent<'env, P::Buffers, L>> {
                self.inner().persistent_collective($part.keep().describe(|$part| $collective))
            }
        }

        impl<'scope, 'env: 'scope, L: crate::ThreadLevel> crate::IntercommunicatorScope<'scope, 'env, L> {
            #[doc = concat!("Begins a nonblocking [", $what, "](crate::Intercommunicator::",
                stringify!($name), "),")]
            /// whose buffer is there again when the scope ends.
            ///
            /// # Errors
            #[doc = concat!("As [`Intercommunicator::", stringify!($name),
                "`](crate::Intercommunicator::", stringify!($name), ").")]
            #[doc = example_with_root!(scope $direction, $name($sent to $value ($($given)*)), $gives)]
            pub fn $name<T: crate::Datatype>(
                self,
                $part: impl crate::$direction<'scope, T>
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::Request<'scope, (), L>> {
                let $part = $part.part();
                self.inner().collective($collective, crate::loan::Withheld::new(()))
            }

            #[doc = concat!("A persistent [", $what, "](crate::Intercommunicator::", stringify!($name),
                "),")]
            /// in what the scope has borrowed: see [`LentPart`](crate::LentPart).
            ///
            /// # Errors
            #[doc = concat!("As [`Intercommunicator::", stringify!($persistent),
                "`](crate::Intercommunicator::", stringify!($persistent), ").")]
            #[doc = example_with_root!(
                scope_init $direction, $persistent($sent to $value ($($given)*)), $gives
            )]
            pub fn $persistent<T: crate::Datatype, P: crate::LentPart<'scope, T>>(
                self,
                $part: P
                $(, $argument: $type)*
            ) -> oxmpi_base::Result<crate::Persistent<'scope, P::Buffers, L>> {
                self.inner().prepare($part.borrow().describe(|$part| $collective))
            }
        }
    };
}

pub(super) use between;
