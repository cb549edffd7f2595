//! `supple convert`: a character with repaired weights.

use crate::args::convert::ConvertArguments;
use crate::failure::Failure;
use crate::output::DocumentKind;
use crate::source::Source;

pub(crate) fn run(options: &ConvertArguments) -> Result<(), Failure> {
    let kind = DocumentKind::wanted(&options.out)?;
    Failure::unless_writable(&options.out)?;
    let source = Source::open(&options.file)?;
    source.report_unusable_centers("kept as they are");
    source.report_unusable_mush("kept as they are");
    let mut document = source.into_document()?;
    kind.write(&mut document, &options.out)
}
