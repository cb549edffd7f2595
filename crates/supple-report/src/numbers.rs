//! The measures of a comparison as plain data: JSON for programs, CSV with a row per number.

use crate::comparison::{FrameMeasures, SlowMeasures};
use crate::findings::JointFindings;
use crate::methods::Entry;
use crate::page::{Answer, Judgement};
use crate::recommendation::Recommendation;
use crate::study::{Shown, Study};
use crate::{ReportError, ReportOptions, Subject};
use serde_json::{Map, Value, json};
use supple::metrics::JointMotion;

/// The version of the JSON: it grows when a field changes its meaning or goes.
const FORMAT: u32 = 1;

/// A measure: its name in all formats, its unit, and what it says.
struct Measure {
    name: &'static str,
    unit: &'static str,
    definition: &'static str,
}

const fn measure(name: &'static str, unit: &'static str, definition: &'static str) -> Measure {
    Measure {
        name,
        unit,
        definition,
    }
}

/// Measures of a method.
const NANOSECONDS: Measure = measure(
    "nanoseconds_per_vertex",
    "ns",
    "time of a frame with normals on this machine, the fastest of some runs",
);

/// Measures of a method over a clip.
const OF_CLIP: [Measure; 2] = [
    measure(
        "rms_from_linear",
        "share of the extent",
        "root mean square of the distance from linear blending over frames, vertices and \
         coordinates",
    ),
    measure(
        "popping_frames",
        "frames",
        "frames, at 30 per second, in which some of the skin jumps",
    ),
];

/// Measures of a method in a frame.
const OF_FRAME: [Measure; 4] = [
    measure(
        "volume_change",
        "share",
        "posed / rest - 1 of the volume, holes closed; absent for sheets",
    ),
    measure(
        "stretched",
        "share",
        "growth in length that the most stretched hundredth of the surface exceeds",
    ),
    measure(
        "compressed",
        "share",
        "loss in length that the most compressed hundredth of the surface exceeds",
    ),
    measure(
        "distortion",
        "share",
        "change of lengths: root mean square over directions, mean over the surface or around the \
         joint",
    ),
];

/// Measures of a method in every fourth frame.
const OF_FOURTH_FRAME: [Measure; 4] = [
    measure("area_change", "share", "posed / rest - 1 of the area"),
    measure(
        "edge_change",
        "share",
        "root mean square of posed / rest - 1 over the lengths of edges",
    ),
    measure(
        "rigid_energy",
        "none",
        "as-rigid-as-possible energy: 0 for a rigid motion, s^2 for scaling by 1 + s",
    ),
    measure(
        "normal_degrees",
        "degrees",
        "mean angle between the method's normals and those of the posed triangles",
    ),
];

/// Measures around a joint in a frame.
const OF_JOINT: [Measure; 5] = [
    measure(
        "distortion",
        "share",
        "change of lengths: root mean square over directions, mean over the surface or around the \
         joint",
    ),
    measure(
        "thinnest",
        "posed / rest",
        "thickness around the joint where it is thinnest; 1 is unchanged",
    ),
    measure(
        "thickest",
        "posed / rest",
        "mean thickness of the slice across the joint that gains most; 1 is unchanged",
    ),
    measure(
        "bend_degrees",
        "degrees",
        "rotation of the joint across its bone, the same for all methods",
    ),
    measure(
        "twist_degrees",
        "degrees",
        "rotation of the joint about its bone, the same for all methods",
    ),
];

/// The measures of a comparison.
pub struct Numbers {
    title: String,
    file: String,
    methods: Value,
    recommendation: Value,
    findings: Value,
    clips: Value,
    records: Vec<Record>,
}

/// The measures of one method, or of it in a clip, in a frame, or around a joint.
struct Record {
    method: String,
    clip: Option<String>,
    /// Seconds of the clip.
    time: Option<f64>,
    joint: Option<Joint>,
    /// Why the method cannot do the pose.
    error: Option<String>,
    values: Vec<(&'static str, f64)>,
}

/// A joint by its name in the file, which several may share, and its place in the skeleton.
#[derive(Clone)]
struct Joint {
    name: String,
    index: usize,
}

/// Compares methods on a character, as [`report`](crate::report) does, and gives the numbers.
///
/// `progress` is called with the share of the work that is done, from 0 to 1.
///
/// # Errors
///
/// If there is nothing to compare.
pub fn numbers(
    subject: &Subject<'_>,
    options: &ReportOptions,
    progress: impl FnMut(f64),
) -> Result<Numbers, ReportError> {
    let entries = crate::entries(options)?;
    crate::check_surface(std::slice::from_ref(subject))?;
    let study = Study::new(
        subject.asset,
        &subject.baked,
        &entries,
        &subject.clips,
        options.most_clips,
        progress,
    );
    let Judgement {
        findings,
        recommendation,
        answer,
    } = Judgement::new(subject, &study, &entries, options);
    let mut records = Vec::new();
    for (method, (entry, cost)) in entries.iter().zip(&study.costs).enumerate() {
        records.extend(cost.map(|nanoseconds| Record {
            method: entry.text.clone(),
            clip: None,
            time: None,
            joint: None,
            error: None,
            values: vec![(NANOSECONDS.name, nanoseconds)],
        }));
        for shown in &study.shown {
            add_clip(&mut records, &study, shown, method, entry);
        }
    }
    Ok(Numbers {
        title: subject.title.clone(),
        file: subject.file.clone(),
        methods: entries
            .iter()
            .map(|entry| json!({ "name": entry.text, "title": entry.title }))
            .collect(),
        recommendation: recommendation_json(
            &study,
            &entries,
            &findings,
            recommendation.as_ref().zip(answer.as_ref()),
        ),
        findings: findings_json(&study, &entries, &findings),
        clips: clips_json(&study),
        records,
    })
}

impl Numbers {
    /// One JSON object with every number at full precision; the page on numbers describes it.
    pub fn to_json(&self) -> Value {
        let definitions = |of: &str, measures: &[Measure]| -> Vec<Value> {
            let definition = |measure: &Measure| {
                json!({
                    "name": measure.name,
                    "of": of,
                    "unit": measure.unit,
                    "definition": measure.definition,
                })
            };
            measures.iter().map(definition).collect()
        };
        let measures = [
            definitions("method", &[NANOSECONDS]),
            definitions("clip", &OF_CLIP),
            definitions("frame", &OF_FRAME),
            definitions("every fourth frame", &OF_FOURTH_FRAME),
            definitions("joint", &OF_JOINT),
        ];
        let rows: Vec<Value> = self.records.iter().map(Record::to_json).collect();
        json!({
            "format": FORMAT,
            "title": self.title,
            "file": self.file,
            "recommendation": self.recommendation,
            "methods": self.methods,
            "clips": self.clips,
            "joints": self.findings,
            "measures": measures.concat(),
            "rows": rows,
        })
    }

    /// A table with a row per number at full precision: method, clip, time, joint, joint_index,
    /// measure, value. Cells that do not apply are empty.
    pub fn to_csv(&self) -> String {
        let mut csv = "method,clip,time,joint,joint_index,measure,value\n".to_owned();
        for record in &self.records {
            let text = |text: Option<&String>| text.map_or(String::new(), |text| cell(text));
            let joint = record.joint.as_ref();
            let place = [
                cell(&record.method),
                text(record.clip.as_ref()),
                record.time.map_or(String::new(), |time| time.to_string()),
                text(joint.map(|joint| &joint.name)),
                joint.map_or(String::new(), |joint| joint.index.to_string()),
            ];
            let place = place.join(",");
            for (measure, value) in &record.values {
                csv += &format!("{place},{measure},{value:?}\n");
            }
        }
        csv
    }
}

impl Record {
    /// Values beside what they are of; what does not apply is null.
    fn to_json(&self) -> Value {
        let mut json = Map::new();
        json.insert("method".to_owned(), json!(self.method));
        json.insert("clip".to_owned(), json!(self.clip));
        json.insert("time".to_owned(), json!(self.time));
        let joint = self.joint.as_ref();
        json.insert("joint".to_owned(), json!(joint.map(|joint| &joint.name)));
        json.insert(
            "joint_index".to_owned(),
            json!(joint.map(|joint| joint.index)),
        );
        if let Some(error) = &self.error {
            json.insert("error".to_owned(), json!(error));
        }
        for (measure, value) in &self.values {
            json.insert((*measure).to_owned(), json!(value));
        }
        Value::Object(json)
    }
}

/// A cell of a table: in quotes where its text has a meaning there.
fn cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// The measures of a method in a clip: over all of it, in every frame, and around every joint.
fn add_clip(
    records: &mut Vec<Record>,
    study: &Study<'_>,
    shown: &Shown<'_>,
    method: usize,
    entry: &Entry,
) {
    let samples = &shown.samples;
    let record = |time: Option<f64>, joint: Option<Joint>, values| Record {
        method: entry.text.clone(),
        clip: Some(shown.clip.name.clone()),
        time,
        joint,
        error: None,
        values,
    };
    let over_all = [
        samples.from_linear[method],
        shown.pops[method].map(|frames| frames as f64),
    ];
    records.push(record(None, None, present(&OF_CLIP, over_all)));
    for (frame, measured) in samples.frames[method].iter().enumerate() {
        let time = Some(shown.clip.start() + samples.times[frame]);
        let measured = match measured {
            Ok(measured) => measured,
            Err(error) => {
                let mut failed = record(time, None, Vec::new());
                failed.error = Some(error.clone());
                records.push(failed);
                continue;
            }
        };
        let mut values = frame_values(measured);
        values.extend(
            samples
                .slow_at(method, frame)
                .map(slow_values)
                .into_iter()
                .flatten(),
        );
        records.push(record(time, None, values));
        let motions = &samples.motions[frame];
        for (region, (around, motion)) in measured.regions.iter().zip(motions).enumerate() {
            let titled = &study.comparison.regions[region];
            let joint = Joint {
                name: titled.name.clone(),
                index: titled.skin.joint,
            };
            let JointMotion { bend, twist, .. } = motion;
            let values = [
                Some(around.distortion),
                around.thickness.map(|thickness| thickness.thinnest),
                around.thickness.map(|thickness| thickness.thickest),
                Some(bend.to_degrees()),
                Some(twist.to_degrees()),
            ];
            records.push(record(time, Some(joint), present(&OF_JOINT, values)));
        }
    }
}

fn frame_values(measured: &FrameMeasures) -> Vec<(&'static str, f64)> {
    let values = [
        measured.volume_change,
        Some(measured.stretched),
        Some(measured.compressed),
        Some(measured.distortion),
    ];
    present(&OF_FRAME, values)
}

fn slow_values(measured: SlowMeasures) -> Vec<(&'static str, f64)> {
    let SlowMeasures {
        area_change,
        edge_change,
        rigid_energy,
        normal_degrees,
    } = measured;
    let values = [area_change, edge_change, rigid_energy, normal_degrees];
    present(&OF_FOURTH_FRAME, values.map(Some))
}

/// The values that were measured, each with the name of its measure.
fn present<const N: usize>(
    measures: &[Measure; N],
    values: [Option<f64>; N],
) -> Vec<(&'static str, f64)> {
    let pairs = measures.iter().zip(values);
    let known = pairs.filter_map(|(measure, value)| Some((measure.name, value?)));
    known.collect()
}

fn recommendation_json(
    study: &Study<'_>,
    entries: &[Entry],
    findings: &JointFindings,
    found: Option<(&Recommendation, &Answer)>,
) -> Value {
    let Some((recommendation, answer)) = found else {
        return Value::Null;
    };
    let joints = |places: &[usize]| -> Vec<&str> {
        let regions = places.iter().map(|&at| findings.joints[at].at.region);
        regions
            .map(|region| study.comparison.regions[region].name.as_str())
            .collect()
    };
    let for_linear = &recommendation.for_linear;
    let twist: Vec<&str> = for_linear
        .twist
        .iter()
        .map(|advice| advice.name.as_str())
        .collect();
    let commands: Vec<Value> = answer
        .commands
        .iter()
        .map(|command| json!({ "command": command.line, "purpose": command.purpose }))
        .collect();
    json!({
        "headline": answer.headline,
        "method": entries[recommendation.best].text,
        "better_than_linear_at": joints(&recommendation.better_at),
        "worse_than_linear_at": joints(&recommendation.worse_at),
        "for_linear_blending": {
            "skin": for_linear.skin.map(|method| &entries[method].text),
            "twist_joints": twist,
        },
        "commands": commands,
    })
}

fn findings_json(study: &Study<'_>, entries: &[Entry], findings: &JointFindings) -> Value {
    let joints = findings.joints.iter().map(|finding| {
        let region = &study.comparison.regions[finding.at.region];
        let shown = &study.shown[finding.at.clip];
        let winners = finding.winners.iter().map(|&method| &entries[method].text);
        json!({
            "joint": region.name,
            "joint_index": region.skin.joint,
            "title": region.title,
            "clip": shown.clip.name,
            "time": shown.clip.start() + shown.samples.times[finding.at.frame],
            "finding": finding.sentence,
            "best_methods": winners.collect::<Vec<_>>(),
        })
    });
    joints.collect()
}

fn clips_json(study: &Study<'_>) -> Value {
    let clips = study.shown.iter().map(|shown| {
        json!({
            "name": shown.clip.name,
            "start": shown.clip.start(),
            "end": shown.clip.duration(),
            "frames": shown.samples.times.len(),
            "test_pose": study.made_up,
        })
    });
    clips.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::Method;
    use supple::characters::{Character, build};
    use supple::deform::BakedData;
    use supple::weights::WeightsReport;

    fn numbers_of_the_bar(clip_name: &str) -> Numbers {
        let mut bar = build(Character::Bar, 2000).unwrap();
        bar.clips.retain(|clip| clip.name == "twist-150");
        bar.clips[0].name = clip_name.to_owned();
        let subject = Subject {
            title: "A bar".to_owned(),
            file: "bar.glb".to_owned(),
            asset: &bar,
            baked: BakedData::default(),
            weights_report: WeightsReport::default(),
            clips: vec![0],
        };
        let options = ReportOptions {
            methods: vec![Method::Linear, "cor".parse().unwrap()],
            ..ReportOptions::default()
        };
        numbers(&subject, &options, |_| ()).unwrap()
    }

    #[test]
    fn both_formats_hold_the_same_numbers_and_the_recommendation_is_the_pages() {
        let numbers = numbers_of_the_bar("twist-150");
        let json = numbers.to_json();
        let advice = &json["recommendation"];
        assert_eq!(
            advice["headline"],
            "Use centers of rotation; if your engine only supports linear blending, add a twist \
             joint to the first joint."
        );
        assert_eq!(advice["method"], "cor");
        assert_eq!(
            advice["for_linear_blending"]["twist_joints"],
            json!(["first"])
        );
        let commands = advice["commands"].as_array().unwrap();
        assert_eq!(
            commands[0]["command"],
            "supple bake bar.glb -m cor -o bar-cor.glb"
        );
        let known: Vec<&str> = json["measures"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|measure| measure["name"].as_str())
            .collect();

        // Every number of one format is in the other, at full precision.
        let rows = json["rows"].as_array().unwrap();
        let mut cells = 0;
        let csv = numbers.to_csv();
        let mut lines = csv.lines();
        assert_eq!(
            lines.next().unwrap(),
            "method,clip,time,joint,joint_index,measure,value"
        );
        for row in rows {
            let place = ["method", "clip", "time", "joint", "joint_index"];
            for (name, value) in row.as_object().unwrap() {
                if place.contains(&name.as_str()) {
                    continue;
                }
                cells += 1;
                assert!(known.contains(&name.as_str()), "{name} has no definition");
                let line: Vec<&str> = lines.next().unwrap().split(',').collect();
                assert_eq!(line[5], name);
                assert_eq!(line[6].parse().ok(), value.as_f64());
                assert_eq!(line[0], row["method"]);
                assert_eq!(line[3], row["joint"].as_str().unwrap_or_default());
                assert_eq!(line[2].parse().ok(), row["time"].as_f64());
            }
        }
        assert!(cells > 500 && lines.next().is_none(), "{cells}");
    }

    /// Linear blending collapses a bar twisted by 150°, to the cosine of half the angle at worst.
    #[test]
    fn the_numbers_are_those_of_the_motion() {
        let json = numbers_of_the_bar("twist-150").to_json();
        let rows = json["rows"].as_array().unwrap();
        let most = |method: &str, measure: &str, sign: f64| -> f64 {
            let rows = rows.iter().filter(|row| row["method"] == method);
            let values = rows.filter_map(|row| row[measure].as_f64());
            sign * values
                .map(|value| sign * value)
                .fold(f64::NEG_INFINITY, f64::max)
        };
        assert!((most("linear", "twist_degrees", 1.0) - 150.0).abs() < 2.0);
        let half = 75f64.to_radians().cos();
        assert!((most("linear", "thinnest", -1.0) - half).abs() < 0.1);
        assert!(most("cor", "thinnest", -1.0) > 0.9);
        assert!(most("linear", "volume_change", -1.0) < -0.05);
        assert_eq!(most("linear", "rms_from_linear", 1.0), 0.0);
        assert!(most("cor", "rms_from_linear", 1.0) > 0.001);
    }

    #[test]
    fn names_stay_in_their_cells() {
        let numbers = numbers_of_the_bar("a \"twist\", or\ntwo");
        let csv = numbers.to_csv();
        assert!(
            csv.contains("linear,\"a \"\"twist\"\", or\ntwo\","),
            "{}",
            &csv[..300]
        );
        assert_eq!(
            numbers.to_json()["clips"][0]["name"],
            "a \"twist\", or\ntwo"
        );
    }
}
