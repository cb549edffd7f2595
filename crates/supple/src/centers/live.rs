//! Centers that follow a brush.
pub struct LiveCenters;
