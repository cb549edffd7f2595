//! Reading numbers from buffers: any component type, interleaved, sparse, normalised.

use super::container::Container;
use super::elements::section;
use super::fault::Fault;
use glam::{Vec3, Vec4};
use gltf_json::accessor::{ComponentType, GenericComponentType, Type};
use gltf_json::validation::Checked;
use gltf_json::{Accessor, buffer};
use std::cell::Cell;

/// The accessors of a file, with a budget for how much may be decoded from them.
pub(super) struct Accessors<'a> {
    accessors: Vec<Accessor>,
    views: Vec<View<'a>>,
    /// The number of numbers that may still be decoded. A small file can name the same data, or
    /// data that is not there at all, thousands of times.
    budget: Cell<u64>,
    byte_count: u64,
}

/// The interpretation of an accessor's integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// As the accessor declares them: floats, or integers of any kind; normalised if it says so.
    AsDeclared,
    /// Always as normalised fractions: for weights, where some files forget to say so.
    Fractions,
}

impl<'a> Accessors<'a> {
    pub(super) fn new(container: &'a Container) -> Result<Accessors<'a>, Fault> {
        Ok(Accessors {
            accessors: section(&container.json, "accessors")?,
            views: views(container)?,
            budget: Cell::new(
                container
                    .byte_count
                    .saturating_mul(8)
                    .saturating_add(1 << 18),
            ),
            byte_count: container.byte_count,
        })
    }

    /// Scalars as floats.
    pub(super) fn scalars(&self, index: usize, place: &str) -> Result<Vec<f32>, Fault> {
        self.floats(index, Type::Scalar, Numbers::AsDeclared, place)
    }

    /// Three numbers per element.
    pub(super) fn vec3s(&self, index: usize, place: &str) -> Result<Vec<Vec3>, Fault> {
        let floats = self.floats(index, Type::Vec3, Numbers::AsDeclared, place)?;
        Ok(floats
            .as_chunks()
            .0
            .iter()
            .map(|&v| Vec3::from_array(v))
            .collect())
    }

    /// Four numbers per element.
    pub(super) fn vec4s(
        &self,
        index: usize,
        numbers: Numbers,
        place: &str,
    ) -> Result<Vec<Vec4>, Fault> {
        let floats = self.floats(index, Type::Vec4, numbers, place)?;
        Ok(floats
            .as_chunks()
            .0
            .iter()
            .map(|&v| Vec4::from_array(v))
            .collect())
    }

    /// Any number of floats per element, all finite.
    pub(super) fn floats(
        &self,
        index: usize,
        wanted: Type,
        numbers: Numbers,
        place: &str,
    ) -> Result<Vec<f32>, Fault> {
        let source = self.resolve(index, wanted, place)?;
        let normalized = source.normalized || numbers == Numbers::Fractions;
        let mut result = vec![0.0f32; source.count * source.width];
        let mut not_finite = None;
        source.for_each(|position, component, bytes| {
            let value = float(source.component, normalized, bytes);
            if !value.is_finite() && not_finite.is_none() {
                not_finite = Some((position, value));
            }
            result[position * source.width + component] = value;
        });
        match not_finite {
            None => Ok(result),
            Some((element, value)) => Err(Fault::new(
                format!("accessors[{index}] ({place})"),
                format!("element {element} holds {value}{}", source.locate(element)),
            )),
        }
    }

    /// Unsigned integers: indices and joints.
    pub(super) fn integers(
        &self,
        index: usize,
        wanted: Type,
        place: &str,
    ) -> Result<Vec<u32>, Fault> {
        let source = self.resolve(index, wanted, place)?;
        let integral = matches!(
            source.component,
            ComponentType::U8 | ComponentType::U16 | ComponentType::U32
        );
        if !integral {
            let problem = format!("holds {:?}, expected unsigned integers", source.component);
            return Err(Fault::new(format!("accessors[{index}] ({place})"), problem));
        }
        let mut result = vec![0u32; source.count * source.width];
        source.for_each(|position, component, bytes| {
            result[position * source.width + component] = integer(bytes);
        });
        Ok(result)
    }

    /// Takes from the budget, one for every number that will be kept.
    pub(super) fn spend(
        &self,
        numbers: u64,
        place: &str,
        what: impl FnOnce() -> String,
    ) -> Result<(), Fault> {
        let left = self.budget.get().checked_sub(numbers).ok_or_else(|| {
            let problem = format!(
                "{}; together with the accessors before, this is out of proportion to the file's \
                 {} bytes",
                what(),
                self.byte_count
            );
            Fault::new(place, problem)
        })?;
        self.budget.set(left);
        Ok(())
    }

    /// The number of bytes that the elements of an accessor take; zero if the accessor is not
    /// valid.
    pub(super) fn byte_length(&self, index: usize) -> u64 {
        let length = |accessor: &Accessor| match (accessor.component_type, accessor.type_) {
            (Checked::Valid(GenericComponentType(component)), Checked::Valid(kind)) => {
                let element = component.size() * kind.multiplicity();
                accessor.count.0.saturating_mul(element as u64)
            }
            _ => 0,
        };
        self.accessors.get(index).map_or(0, length)
    }

    fn get(&self, index: usize, place: &str) -> Result<&Accessor, Fault> {
        let missing = || {
            let problem = format!(
                "names accessor {index}, but there are {}",
                self.accessors.len()
            );
            Fault::new(place, problem)
        };
        self.accessors.get(index).ok_or_else(missing)
    }

    /// Checks everything that an accessor claims against the bytes that are there.
    fn resolve(&self, index: usize, wanted: Type, place: &str) -> Result<Source<'a>, Fault> {
        let accessor = self.get(index, place)?;
        let here = format!("accessors[{index}] ({place})");
        let fault = |problem: String| Fault::new(&here, problem);
        let Checked::Valid(GenericComponentType(component)) = accessor.component_type else {
            return Err(fault("an unknown componentType".to_owned()));
        };
        match accessor.type_ {
            Checked::Valid(found) if found == wanted => {}
            Checked::Valid(found) => {
                return Err(fault(format!("is of type {found:?}, expected {wanted:?}")));
            }
            Checked::Invalid => return Err(fault("an unknown type".to_owned())),
        }
        let width = wanted.multiplicity();
        let count = accessor.count.0;
        let element = component.size() * width;
        let base = match accessor.buffer_view {
            Some(view) => {
                let offset = accessor.byte_offset.map_or(0, |offset| offset.0);
                Some(self.slice(view.value(), offset, count, element, true, &here)?)
            }
            None => None,
        };
        let numbers = count.saturating_mul(width as u64);
        self.spend(numbers, &here, || format!("claims {count} elements"))?;
        let sparse = match &accessor.sparse {
            Some(sparse) => Some(self.sparse(sparse, count, element, &here)?),
            None => None,
        };
        Ok(Source {
            count: count as usize,
            width,
            component,
            normalized: accessor.normalized,
            base,
            sparse,
        })
    }

    fn sparse(
        &self,
        sparse: &gltf_json::accessor::sparse::Sparse,
        count: u64,
        element: usize,
        here: &str,
    ) -> Result<Sparse<'a>, Fault> {
        let there = format!("{here}.sparse");
        let Checked::Valid(index_type) = sparse.indices.component_type else {
            return Err(Fault::new(there, "an unknown componentType for indices"));
        };
        let size = index_type.0.size();
        let replaced = sparse.count.0;
        if replaced > count {
            let problem = format!("replaces {replaced} elements of {count}");
            return Err(Fault::new(format!("{there}.count"), problem));
        }
        let (indices, values) = (&sparse.indices, &sparse.values);
        let view = indices.buffer_view.value();
        let indices = self.slice(view, indices.byte_offset.0, replaced, size, false, &there)?;
        let view = values.buffer_view.value();
        let values = self.slice(view, values.byte_offset.0, replaced, element, false, &there)?;
        let positions: Vec<usize> = (0..replaced as usize)
            .map(|entry| integer(indices.element(entry, size)) as usize)
            .collect();
        if let Some(entry) = positions
            .iter()
            .position(|&position| position as u64 >= count)
        {
            let problem = format!(
                "entry {entry} replaces element {}, but there are {count}",
                positions[entry]
            );
            return Err(Fault::new(format!("{there}.indices"), problem));
        }
        Ok(Sparse { positions, values })
    }

    /// `count` elements of `element` bytes in a buffer view, proven to be inside of it and of its
    /// buffer.
    fn slice(
        &self,
        view_index: usize,
        offset: u64,
        count: u64,
        element: usize,
        strided: bool,
        here: &str,
    ) -> Result<Slice<'a>, Fault> {
        let fault = |problem: String| Fault::new(here, problem);
        let Some(view) = self.views.get(view_index) else {
            return Err(fault(format!(
                "names buffer view {view_index}, but there are {}",
                self.views.len()
            )));
        };
        let stride = match view.stride {
            Some(stride) if strided => stride,
            _ => element,
        };
        if stride < element {
            let problem = format!("a stride of {stride} bytes for elements of {element}");
            return Err(Fault::new(format!("bufferViews[{view_index}]"), problem));
        }
        let needed = match count {
            0 => Some(0),
            _ => (count - 1)
                .checked_mul(stride as u64)
                .and_then(|bytes| bytes.checked_add(element as u64)),
        };
        let end = needed.and_then(|needed| needed.checked_add(offset));
        let view_length = view.bytes.len();
        if end.is_none_or(|end| end > view_length as u64) {
            return Err(fault(format!(
                "claims {count} elements of {element} bytes from byte {offset}, but buffer view \
                 {view_index} has {view_length} bytes"
            )));
        }
        Ok(Slice {
            // Bounded by the view's length above.
            bytes: &view.bytes[offset as usize..],
            stride,
            buffer: view.buffer,
            start: view.start + offset as usize,
        })
    }
}

/// A buffer view, with the bytes that it claims.
struct View<'a> {
    bytes: &'a [u8],
    buffer: usize,
    /// The byte of the buffer where it starts.
    start: usize,
    stride: Option<usize>,
}

/// Every view of a file, proven to be inside of its buffer. One that is not is refused even if
/// nothing reads it: what Supple writes adds to the buffer, and the view would come to hold those
/// bytes.
fn views(container: &Container) -> Result<Vec<View<'_>>, Fault> {
    let buffers = section::<gltf_json::Buffer>(&container.json, "buffers")?;
    let views = section::<buffer::View>(&container.json, "bufferViews")?;
    let check = |(index, view): (usize, buffer::View)| {
        let fault = |problem: String| Fault::new(format!("bufferViews[{index}]"), problem);
        let buffer = view.buffer.value();
        let (Some(claimed), Some(content)) = (buffers.get(buffer), container.buffers.get(buffer))
        else {
            let count = buffers.len();
            return Err(fault(format!(
                "names buffer {buffer}, but there are {count}"
            )));
        };
        let start = view.byte_offset.map_or(0, |offset| offset.0);
        let (length, buffer_length) = (view.byte_length.0, claimed.byte_length.0);
        // The content is at least as long as the buffer claims.
        let end = start
            .checked_add(length)
            .filter(|&end| end <= buffer_length);
        let bytes = end.and_then(|end| content.get(start as usize..end as usize));
        let Some(bytes) = bytes else {
            return Err(fault(format!(
                "claims {length} bytes from byte {start}, but buffer {buffer} has {buffer_length}"
            )));
        };
        Ok(View {
            bytes,
            buffer,
            start: start as usize,
            stride: view.byte_stride.map(|stride| stride.0),
        })
    };
    views.into_iter().enumerate().map(check).collect()
}

/// A checked accessor.
struct Source<'a> {
    count: usize,
    width: usize,
    component: ComponentType,
    normalized: bool,
    /// Without one, elements are zero unless the sparse part replaces them.
    base: Option<Slice<'a>>,
    sparse: Option<Sparse<'a>>,
}

struct Slice<'a> {
    bytes: &'a [u8],
    stride: usize,
    buffer: usize,
    start: usize,
}

struct Sparse<'a> {
    positions: Vec<usize>,
    values: Slice<'a>,
}

impl<'a> Slice<'a> {
    fn element(&self, index: usize, size: usize) -> &'a [u8] {
        &self.bytes[index * self.stride..][..size]
    }
}

impl Source<'_> {
    /// Hands every component that is stored (element, component, its bytes) to `put`, sparse ones
    /// last.
    fn for_each(&self, mut put: impl FnMut(usize, usize, &[u8])) {
        let size = self.component.size();
        let mut element = |position: usize, bytes: &[u8]| {
            for (component, bytes) in bytes.chunks_exact(size).enumerate() {
                put(position, component, bytes);
            }
        };
        if let Some(base) = &self.base {
            for position in 0..self.count {
                element(position, base.element(position, size * self.width));
            }
        }
        if let Some(sparse) = &self.sparse {
            for (entry, &position) in sparse.positions.iter().enumerate() {
                element(position, sparse.values.element(entry, size * self.width));
            }
        }
    }

    /// The location of an element, for error messages.
    fn locate(&self, element: usize) -> String {
        let replaced = self.sparse.as_ref().and_then(|sparse| {
            let entry = sparse
                .positions
                .iter()
                .rposition(|&position| position == element)?;
            Some((&sparse.values, entry))
        });
        match replaced.or(self.base.as_ref().map(|base| (base, element))) {
            Some((slice, entry)) => format!(
                " (buffer {}, byte {})",
                slice.buffer,
                slice.start + entry * slice.stride
            ),
            None => String::new(),
        }
    }
}

/// A number as glTF defines it; section 3.11, "Animations", gives the normalised forms.
fn float(component: ComponentType, normalized: bool, bytes: &[u8]) -> f32 {
    let (value, largest) = match (component, bytes) {
        (ComponentType::I8, &[a]) => (f64::from(a as i8), 127.0),
        (ComponentType::U8, &[a]) => (f64::from(a), 255.0),
        (ComponentType::I16, &[a, b]) => (f64::from(i16::from_le_bytes([a, b])), 32767.0),
        (ComponentType::U16, &[a, b]) => (f64::from(u16::from_le_bytes([a, b])), 65535.0),
        (ComponentType::U32, _) => (f64::from(integer(bytes)), f64::from(u32::MAX)),
        (ComponentType::F32, &[a, b, c, d]) => return f32::from_le_bytes([a, b, c, d]),
        // Slices of a component are as long as the component.
        _ => return f32::NAN,
    };
    if normalized {
        (value / largest).max(-1.0) as f32
    } else {
        value as f32
    }
}

/// A little-endian unsigned integer of one, two or four bytes.
fn integer(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| (value << 8) | u32::from(byte))
}
