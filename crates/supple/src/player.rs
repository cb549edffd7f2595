//! Plays an asset: from a pose to deformed surfaces in one call, with morphs, kinematics, skinning
//! and props.

use crate::deform::{DeformError, Method, Normals, Output, Skin, Workspace};
use crate::mesh::{MorphedShape, Shape};
use crate::pose::{Palette, Pose};
use crate::rig::{Asset, Prop};
use crate::transform::Affine;
use glam::{DAffine3, Vec3, Vec4};
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

/// A vertex loop that replaces [`Skin::deform`], such as one on a GPU.
pub trait VertexLoop: Debug + Send {
    /// Deforms a shape of the surface that it was made for.
    ///
    /// # Errors
    ///
    /// Fails if shape, palette or output do not fit the character, or the backend fails.
    fn deform(
        &mut self,
        shape: Shape<'_>,
        palette: &Palette,
        output: Output<'_>,
    ) -> Result<(), DeformError>;
}

/// The asset of a [`Player`]: borrowed, or shared by reference counting.
///
/// With a borrowed asset nothing is copied. A shared one makes a `Player<'static>`, which can be
/// stored beside its asset or moved to another thread.
#[derive(Clone, Debug)]
pub enum AssetRef<'a> {
    /// The asset outlives the player.
    Borrowed(&'a Asset),
    /// Several players may share the asset.
    Shared(Arc<Asset>),
}

impl Deref for AssetRef<'_> {
    type Target = Asset;

    fn deref(&self) -> &Asset {
        match self {
            AssetRef::Borrowed(asset) => asset,
            AssetRef::Shared(asset) => asset,
        }
    }
}

impl<'a> From<&'a Asset> for AssetRef<'a> {
    fn from(asset: &'a Asset) -> AssetRef<'a> {
        AssetRef::Borrowed(asset)
    }
}

impl From<Arc<Asset>> for AssetRef<'_> {
    fn from(asset: Arc<Asset>) -> Self {
        AssetRef::Shared(asset)
    }
}

impl From<Asset> for AssetRef<'_> {
    fn from(asset: Asset) -> Self {
        AssetRef::Shared(Arc::new(asset))
    }
}

/// An asset with its skin and all buffers that a frame needs.
///
/// Nothing is deformed before the first call of [`pose`](Player::pose): until then the surface and
/// the props are as they were modelled, the morphs are not applied, and all transforms are the
/// identity. The first pose allocates scratch buffers; later poses allocate nothing, unless a
/// [`VertexLoop`] does.
///
/// ```
/// use std::sync::Arc;
/// use supple::characters::{self, Character};
/// use supple::{Method, Normals, Player};
///
/// let asset = Arc::new(characters::build(Character::Bar, 2_000)?);
/// let mut player = Player::new(asset.clone(), &Method::SwingTwist, Normals::Transported)?;
/// player.pose(&asset.pose_at(&asset.clips[0], 0.5))?;
/// let other_thread = std::thread::spawn(move || player.positions().len());
/// # assert_eq!(other_thread.join().unwrap(), asset.rig.mesh().vertex_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Player<'a> {
    asset: AssetRef<'a>,
    skin: Skin,
    /// Replaces the vertex loop of the skin.
    vertex_loop: Option<Box<dyn VertexLoop>>,
    /// The morphed shape; none without morphs, since the skin stores the rest shape.
    morphed: Option<MorphedShape>,
    world_from_node: Vec<DAffine3>,
    palette: Palette,
    workspace: Workspace,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Option<Vec<Vec4>>,
    /// The buffers of the props, in the order of the asset.
    props: Vec<PropBuffers>,
}

#[derive(Debug)]
struct PropBuffers {
    shape: MorphedShape,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

/// A prop, moved to its node.
#[derive(Clone, Copy, Debug)]
pub struct PosedProp<'p> {
    /// The prop itself.
    pub prop: &'p Prop,
    /// World positions.
    pub positions: &'p [Vec3],
    /// World normals.
    pub normals: &'p [Vec3],
}

impl<'a> Player<'a> {
    /// Bakes the asset's rig for a method.
    ///
    /// # Errors
    ///
    /// Fails if [`Skin::bake`] does.
    pub fn new(
        asset: impl Into<AssetRef<'a>>,
        method: &Method,
        normals: Normals,
    ) -> Result<Player<'a>, DeformError> {
        let asset = asset.into();
        let skin = Skin::bake(&asset.rig, method, normals)?;
        Player::with_skin(asset, skin)
    }

    /// Uses a skin of the asset's rig, such as one from [`Skin::bake_with`].
    ///
    /// # Errors
    ///
    /// Fails if the skin belongs to another character.
    pub fn with_skin(
        asset: impl Into<AssetRef<'a>>,
        skin: Skin,
    ) -> Result<Player<'a>, DeformError> {
        let asset = asset.into();
        let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());
        skin.check_shape(&mesh.shape())?;
        let prop_buffers = |prop: &Prop| PropBuffers {
            shape: MorphedShape::new(&prop.mesh),
            positions: prop.mesh.positions().to_vec(),
            normals: prop.mesh.normals().to_vec(),
        };
        Ok(Player {
            skin,
            vertex_loop: None,
            morphed: (!asset.morphs.is_empty()).then(|| MorphedShape::new(mesh)),
            world_from_node: vec![DAffine3::IDENTITY; skeleton.nodes().len()],
            palette: Palette::identity(skeleton.joints().len()),
            workspace: Workspace::default(),
            positions: mesh.positions().to_vec(),
            normals: mesh.normals().to_vec(),
            tangents: mesh.tangents().map(<[Vec4]>::to_vec),
            props: asset.props.iter().map(prop_buffers).collect(),
            asset,
        })
    }

    /// Replaces the vertex loop of the skin, from the next pose on.
    pub fn on(mut self, vertex_loop: Box<dyn VertexLoop>) -> Player<'a> {
        self.vertex_loop = Some(vertex_loop);
        self
    }

    /// The baked skin.
    pub fn skin(&self) -> &Skin {
        &self.skin
    }

    /// The shape that is deformed: the rest surface with the morphs of the last pose.
    pub fn shape(&self) -> Shape<'_> {
        shape_of(&self.skin, self.morphed.as_ref())
    }

    /// Deforms everything to a pose of the asset's skeleton. If the method fails, the surface stays
    /// unchanged, but joints and props have moved.
    ///
    /// # Errors
    ///
    /// Fails if the pose has another number of nodes than the skeleton, or the method cannot deform
    /// to the pose.
    pub fn pose(&mut self, pose: &Pose) -> Result<(), DeformError> {
        self.move_nodes_and_props(pose)?;
        let skeleton = self.asset.rig.skeleton();
        skeleton.fill_palette(&self.world_from_node, &mut self.palette)?;
        self.deform()
    }

    /// Moves nodes, morphs and props to a pose, and deforms the surface by another palette than the
    /// pose's own.
    ///
    /// # Errors
    ///
    /// Fails as [`pose`](Player::pose) does; or if the palette has another number of joints, in
    /// which case nothing moves.
    pub fn pose_with_palette(&mut self, pose: &Pose, palette: &Palette) -> Result<(), DeformError> {
        let (found, expected) = (
            palette.posed_from_bind.len(),
            self.palette.posed_from_bind.len(),
        );
        if found != expected {
            return Err(DeformError::SizeMismatch {
                what: "joints in the palette",
                found,
                expected,
            });
        }
        self.move_nodes_and_props(pose)?;
        self.palette
            .posed_from_bind
            .copy_from_slice(&palette.posed_from_bind);
        self.deform()
    }

    fn move_nodes_and_props(&mut self, pose: &Pose) -> Result<(), DeformError> {
        let skeleton = self.asset.rig.skeleton();
        skeleton.forward_kinematics(pose, &mut self.world_from_node)?;
        if let Some(morphed) = &mut self.morphed {
            morphed.apply(
                self.asset.rig.mesh(),
                &self.asset.morphs,
                &pose.morph_weights,
            )?;
        }
        for (prop, posed) in self.asset.props.iter().zip(&mut self.props) {
            let Some(world) = self.world_from_node.get(prop.node) else {
                continue;
            };
            let world_from_prop = Affine::from_f64(world);
            posed
                .shape
                .apply(&prop.mesh, &prop.morphs, &pose.morph_weights)?;
            let shape = posed.shape.shape();
            for (out, position) in posed.positions.iter_mut().zip(shape.positions) {
                *out = world_from_prop.transform_point(*position);
            }
            for (out, normal) in posed.normals.iter_mut().zip(shape.normals) {
                *out = world_from_prop.transform_normal(*normal);
            }
        }
        Ok(())
    }

    /// Forgets the last pose, for methods that continue from it, such as as-rigid-as-possible
    /// deformation with `follow`. Call this before a pose that does not follow the last one, such
    /// as a single picture or the start of a clip.
    pub fn start_afresh(&mut self) {
        self.workspace.start_afresh();
    }

    fn deform(&mut self) -> Result<(), DeformError> {
        let output = Output {
            positions: &mut self.positions,
            normals: Some(&mut self.normals),
            tangents: self.tangents.as_deref_mut(),
        };
        if let Some(vertex_loop) = &mut self.vertex_loop {
            let shape = shape_of(&self.skin, self.morphed.as_ref());
            return vertex_loop.deform(shape, &self.palette, output);
        }
        match &self.morphed {
            Some(morphed) => {
                self.skin
                    .deform_shape(morphed.shape(), &self.palette, &mut self.workspace, output)
            }
            None => self.skin.deform(&self.palette, &mut self.workspace, output),
        }
    }

    /// The asset.
    pub fn asset(&self) -> &Asset {
        &self.asset
    }

    /// The palette of the current pose.
    pub fn palette(&self) -> &Palette {
        &self.palette
    }

    /// World positions of the vertices.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// World normals of the vertices.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// World tangents of the vertices, if the character has any.
    pub fn tangents(&self) -> Option<&[Vec4]> {
        self.tangents.as_deref()
    }

    /// The triangles, with reversed orientation where the pose mirrors the surface.
    pub fn triangles(&self) -> Cow<'_, [[u32; 3]]> {
        let rig = &self.asset.rig;
        let mirrors: Vec<bool> = self
            .palette
            .posed_from_bind
            .iter()
            .map(Affine::mirrors)
            .collect();
        let triangles = rig.mesh().triangles();
        if !mirrors.contains(&true) {
            return Cow::Borrowed(triangles);
        }
        // A triangle belongs to the heaviest joint of its first corner.
        let turned = triangles.iter().map(|&[a, b, c]| {
            let joint = rig.weights().row(a as usize).0[0];
            if mirrors[usize::from(joint)] {
                [a, c, b]
            } else {
                [a, b, c]
            }
        });
        Cow::Owned(turned.collect())
    }

    /// The first vertex with a position that is not finite, if any; joints with an extreme scale
    /// can cause this.
    pub fn first_not_finite(&self) -> Option<usize> {
        self.positions
            .iter()
            .position(|position| !position.is_finite())
    }

    /// The vertices that the method turns inside out in this pose: see [`Skin::inverted`].
    ///
    /// # Errors
    ///
    /// Fails if the method cannot deform to the pose.
    pub fn inverted(&mut self) -> Result<Vec<usize>, DeformError> {
        self.skin.inverted(&self.palette, &mut self.workspace)
    }

    /// The props, moved to their nodes, in the order of the asset.
    pub fn props(&self) -> impl Iterator<Item = PosedProp<'_>> {
        let props = self.asset.props.iter().zip(&self.props);
        props.map(|(prop, posed)| PosedProp {
            prop,
            positions: &posed.positions,
            normals: &posed.normals,
        })
    }

    /// The world transform of every node.
    pub fn world_from_node(&self) -> &[DAffine3] {
        &self.world_from_node
    }
}

/// A skin's rest shape, with morphs if there are any.
fn shape_of<'a>(skin: &'a Skin, morphed: Option<&'a MorphedShape>) -> Shape<'a> {
    match morphed {
        Some(morphed) => morphed.shape(),
        None => skin.rest(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Mesh, Morph, MorphTarget};
    use crate::rig::Rig;
    use crate::skeleton::{Node, Skeleton};
    use crate::transform::{Local, Trs};
    use crate::weights::WeightsBuilder;
    use glam::DVec3;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn morphs_come_before_joints_and_props_follow_their_node() {
        let rest = Local::Trs(Trs::IDENTITY);
        let node = Node {
            name: String::new(),
            parent: None,
            rest,
        };
        let skeleton = Skeleton::bound_at_rest(vec![node], &[0]).unwrap();
        let mesh = Mesh::new(vec![Vec3::X], None, None, vec![]).unwrap();
        let mut weights = WeightsBuilder::new(1).unwrap();
        weights.push([(0, 1.0)], 0).unwrap();
        let morph = |first_weight| Morph {
            first_vertex: 0,
            first_weight,
            targets: vec![MorphTarget {
                positions: vec![Vec3::Y],
                ..MorphTarget::default()
            }],
        };
        let asset = Asset {
            name: String::new(),
            rig: Rig::new(mesh.clone(), skeleton, weights.finish().0).unwrap(),
            parts: vec![],
            morphs: vec![morph(0)],
            rest_morph_weights: vec![0.0, 0.0],
            clips: vec![],
            props: vec![Prop {
                name: String::new(),
                node: 0,
                mesh,
                morphs: vec![morph(1)],
                color: None,
            }],
        };
        let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
        let mut pose = asset.rest_pose();
        pose.locals[0] = Local::Trs(Trs {
            scale: DVec3::splat(2.0),
            ..Trs::IDENTITY
        });
        pose.morph_weights = vec![0.5, 1.5];
        player.pose(&pose).unwrap();
        assert_eq!(player.positions(), [Vec3::new(2.0, 1.0, 0.0)]);
        let prop = player.props().next().unwrap();
        assert_eq!(prop.positions, [Vec3::new(2.0, 3.0, 0.0)]);
        assert_eq!(prop.prop, &asset.props[0]);
        let rest = asset.rest_pose();
        assert!(
            player
                .pose_with_palette(&rest, &Palette::identity(2))
                .is_err()
        );
        assert_eq!(
            player.positions(),
            [Vec3::new(2.0, 1.0, 0.0)],
            "nothing has changed"
        );
        assert_eq!(player.props().next().unwrap().positions[0].y, 3.0);
        let mut halved = Palette::identity(1);
        halved.posed_from_bind[0] = Affine::from_f64(&DAffine3::from_scale(DVec3::splat(0.5)));
        player.pose_with_palette(&pose, &halved).unwrap();
        assert_eq!(player.positions(), [Vec3::new(0.5, 0.25, 0.0)]);
        let prop = player.props().next().unwrap();
        assert_eq!(prop.positions, [Vec3::new(2.0, 3.0, 0.0)]);
    }

    /// Counts deformations, and leaves the surface unchanged.
    #[derive(Debug, Default)]
    struct Counting(Arc<AtomicUsize>);

    impl VertexLoop for Counting {
        fn deform(&mut self, _: Shape<'_>, _: &Palette, _: Output<'_>) -> Result<(), DeformError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }

    /// An asset whose rest pose differs from its bind pose.
    fn moved_at_rest() -> Asset {
        let mut asset = crate::characters::build(crate::characters::Character::Bar, 2_000).unwrap();
        let skeleton = asset.rig.skeleton();
        let mut nodes = skeleton.nodes().to_vec();
        let joints = skeleton.joints().iter();
        let joints = joints.map(|joint| (joint.node, joint.joint_from_bind));
        let moved = Trs {
            translation: DVec3::Y,
            ..Trs::IDENTITY
        };
        nodes[0].rest = Local::Trs(moved);
        let skeleton = Skeleton::new(nodes, joints.collect()).unwrap();
        let (mesh, weights) = (asset.rig.mesh().clone(), asset.rig.weights().clone());
        asset.rig = Rig::new(mesh, skeleton, weights).unwrap();
        asset
    }

    #[test]
    fn only_poses_deform_and_each_deforms_once() {
        let asset = moved_at_rest();
        let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
        assert_eq!(player.positions(), asset.rig.mesh().positions());
        let identity = Palette::identity(asset.rig.skeleton().joints().len());
        assert_eq!(*player.palette(), identity);
        let rest = asset.rest_pose();
        player.pose(&rest).unwrap();
        assert_ne!(player.positions(), asset.rig.mesh().positions());

        let count = Arc::new(AtomicUsize::new(0));
        let counted = || count.load(Ordering::Relaxed);
        let mut player = player.on(Box::new(Counting(count.clone())));
        assert_eq!(counted(), 0);
        player.pose(&rest).unwrap();
        assert_eq!(counted(), 1);
        player.pose_with_palette(&rest, &identity).unwrap();
        assert_eq!(counted(), 2);
    }

    #[test]
    fn players_share_an_asset_or_own_it() {
        let asset = Arc::new(moved_at_rest());
        let method = Method::SwingTwist;
        let posed = |mut player: Player<'static>, pose: Pose| {
            let thread = std::thread::spawn(move || {
                player.pose(&pose).unwrap();
                player.positions().to_vec()
            });
            thread.join().unwrap()
        };
        let pose = asset.pose_at(&asset.clips[0], 0.5);
        let mut borrowing = Player::new(&*asset, &method, Normals::Transported).unwrap();
        borrowing.pose(&pose).unwrap();
        let shared = Player::new(asset.clone(), &method, Normals::Transported).unwrap();
        assert!(std::ptr::eq(shared.asset(), &*asset));
        assert_eq!(posed(shared, pose.clone()), borrowing.positions());
        let owned = Player::new((*asset).clone(), &method, Normals::Transported).unwrap();
        assert_eq!(posed(owned, pose), borrowing.positions());
    }

    #[test]
    fn a_mirrored_surface_still_faces_outwards() {
        let mirror = Local::Trs(Trs {
            scale: DVec3::new(-1.0, 1.0, 1.0),
            ..Trs::IDENTITY
        });
        let node = |rest| Node {
            name: String::new(),
            parent: None,
            rest,
        };
        let nodes = vec![node(Local::Trs(Trs::IDENTITY)), node(mirror)];
        let skeleton = Skeleton::new(
            nodes,
            vec![(0, DAffine3::IDENTITY), (1, DAffine3::IDENTITY)],
        )
        .unwrap();
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let tangents = vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 6];
        let positions = [corners, corners].concat();
        let mesh = Mesh::new(positions, None, Some(tangents), vec![[0, 1, 2], [3, 4, 5]]).unwrap();
        let mut weights = WeightsBuilder::new(2).unwrap();
        for vertex in 0..6 {
            weights.push([(vertex / 3, 1.0)], 0).unwrap();
        }
        let asset = Asset {
            name: String::new(),
            rig: Rig::new(mesh, skeleton, weights.finish().0).unwrap(),
            parts: vec![],
            morphs: vec![],
            rest_morph_weights: vec![],
            clips: vec![],
            props: vec![],
        };
        let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
        player.pose(&asset.rest_pose()).unwrap();
        assert_eq!(*player.triangles(), [[0, 1, 2], [3, 5, 4]]);
        for corners in player.triangles().iter() {
            let [a, b, c] = corners.map(|corner| player.positions()[corner as usize]);
            assert_eq!((b - a).cross(c - a).normalize(), Vec3::Z);
        }
        assert_eq!(player.normals(), [Vec3::Z; 6]);
        let tangents = player.tangents().unwrap();
        assert_eq!(tangents[0], Vec4::new(1.0, 0.0, 0.0, 1.0));
        assert_eq!(tangents[3], Vec4::new(-1.0, 0.0, 0.0, -1.0));
    }
}
