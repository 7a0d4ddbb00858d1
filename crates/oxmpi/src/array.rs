//! Arrays of the crate ndarray, with whatever strides, as views.

use ndarray::{ArrayView, ArrayViewMut, Dimension};
use oxmpi_base::Result;
use oxmpi_datatype as datatype;

use crate::datatype::Datatype;
use crate::layout;
use crate::shape::{Fitted, check_countable};
use crate::view::{Elements, View, ViewMut};

impl<'a, T: Datatype> View<'a, T> {
    /// The elements of an array, its last dimension varying fastest.
    ///
    /// # Errors
    /// `Arg` if an array that repeats its elements is longer than memory can be.
    ///
    /// ```
    /// use ndarray::{Array2, array, s};
    /// use oxmpi::{View, ViewMut};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let a = array![[1, 2, 3], [4, 5, 6]];
    /// let mut b = Array2::zeros((3, 2));
    /// // What is transposed there and here is what it was.
    /// env.this().allgather(&View::array(a.t())?, &mut ViewMut::array(b.view_mut())?)?;
    /// assert_eq!(b, a.t());
    /// env.this().bcast(&mut ViewMut::array(b.slice_mut(s![..;-1, 1..]))?, 0)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn array<D: Dimension>(array: ArrayView<'a, T, D>) -> Result<Self> {
        let fitted = fit::<T>(array.shape(), array.strides())?;
        // SAFETY: the array, which `fit` describes, is borrowed; nothing is written through the memory of a view.
        unsafe { Elements::of(array.as_ptr().cast_mut(), fitted) }.map(Self)
    }
}

impl<'a, T: Datatype> ViewMut<'a, T> {
    /// The elements of an array, its last dimension varying fastest. See [`View::array`].
    ///
    /// # Errors
    /// None that is known: no array that can be changed is too long.
    ///
    /// ```
    /// use ndarray::{Array2, s};
    /// use oxmpi::ViewMut;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut field = Array2::from_elem((3, 4), world.rank());
    /// let inner = field.slice_mut(s![1..2, 1..3]);
    /// world.allreduce_in_place(&mut ViewMut::array(inner)?, &oxmpi::Op::SUM)?;
    /// assert_eq!(field.row(1).to_vec(), [world.rank(), 1, 1, world.rank()]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn array<D: Dimension>(mut array: ArrayViewMut<'a, T, D>) -> Result<Self> {
        let fitted = fit::<T>(array.shape(), array.strides())?;
        // SAFETY: the array, which `fit` describes, is borrowed, and has no element twice.
        unsafe { Elements::of(array.as_mut_ptr(), fitted) }.map(Self)
    }
}

/// The elements of an array: a loop in each dimension.
fn fit<T: Datatype>(shape: &[usize], strides: &[isize]) -> Result<Fitted> {
    let elements = shape.iter().product();
    if elements == 0 {
        return Ok(Fitted::EMPTY);
    }
    let element = layout::committed::<T>();
    check_countable(elements, &element)?;
    // Of a dimension of one element the stride may be anything, and is not used.
    let dimensions = shape.iter().zip(strides).filter(|(size, _)| **size > 1).rev();
    let array = dimensions.into_iter().try_fold(element.clone(), |inner, (&size, &stride)| {
        datatype::Datatype::hvector(size as i64, 1, stride as i64 * element.extent(), &inner)
    })?;
    Ok(Fitted::new(array, elements))
}

#[cfg(test)]
mod tests {
    use oxmpi_base::ErrorClass;

    use super::*;

    #[test]
    fn what_repeats_more_elements_than_can_be_counted_is_no_view() {
        let one = ndarray::arr0(1_i32);
        let class = |times: usize| {
            let many = one.broadcast(times).expect("arrays may be so long");
            View::array(many).map(drop).map_err(|error| error.class())
        };
        assert_eq!([isize::MAX as usize, 7].map(class), [Err(ErrorClass::Arg), Ok(())]);
    }

    #[test]
    fn the_stride_of_one_element_may_be_anything() {
        use ndarray::ShapeBuilder;

        let data = [1.0_f64, 2.0];
        let shape = (1, 2).strides((isize::MAX as usize, 1));
        let array = ndarray::ArrayView2::from_shape(shape, &data).expect("arrays may be so");
        assert_eq!(View::array(array).expect("two elements").to_vec(), data);
    }
}
