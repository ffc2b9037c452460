//! An `object_store` in memory with scripted puts.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use zarr_store_object::object_store::memory::InMemory;
use zarr_store_object::object_store::path::Path;
use zarr_store_object::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What happens to a put.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// It is applied and answered.
    Pass,
    /// It is applied, and the answer is lost.
    Applied,
    /// It is not applied, and the answer is lost.
    Dropped,
    /// It is refused, but not because of its condition.
    Forbidden,
}

/// What another writer does after a put, before the next request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Other {
    Nothing,
    Puts(&'static str),
    Deletes,
    /// Nothing can be read from now on.
    Hides,
}

/// The store. Clones share all state.
#[derive(Clone, Debug, Default)]
pub struct Double {
    memory: Arc<InMemory>,
    /// The scripted puts; all later ones succeed.
    script: Arc<Mutex<Vec<(Step, Other)>>>,
    hidden: Arc<Mutex<bool>>,
    pub puts: Arc<AtomicUsize>,
    pub gets: Arc<AtomicUsize>,
}

impl Double {
    pub fn new(script: &[(Step, Other)]) -> Self {
        Self { script: Arc::new(Mutex::new(script.to_vec())), ..Self::default() }
    }

    /// Puts as another writer.
    pub fn put(&self, path: &str, value: &'static str) {
        self.memory.put(&Path::from(path), value.into()).now_or_never().unwrap().unwrap();
    }

    pub fn value(&self, path: &str) -> Option<String> {
        let got = self.memory.get(&Path::from(path)).now_or_never().unwrap().ok()?;
        Some(String::from_utf8(got.bytes().now_or_never().unwrap().unwrap().to_vec()).unwrap())
    }

    fn next(&self) -> (Step, Other) {
        let mut script = self.script.lock().unwrap();
        if script.is_empty() { (Step::Pass, Other::Nothing) } else { script.remove(0) }
    }

    fn others(&self, other: Other, path: &Path) {
        match other {
            Other::Nothing => {}
            Other::Puts(value) => self.put(path.as_ref(), value),
            Other::Deletes => self.memory.delete(path).now_or_never().unwrap().unwrap(),
            Other::Hides => *self.hidden.lock().unwrap() = true,
        }
    }
}

impl fmt::Display for Double {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Double")
    }
}

fn broken() -> Error {
    Error::Generic { store: "Double", source: "the connection broke".into() }
}

#[async_trait::async_trait]
impl ObjectStore for Double {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.puts.fetch_add(1, Ordering::SeqCst);
        let (step, other) = self.next();
        let done = match step {
            Step::Pass | Step::Applied => self.memory.put_opts(path, payload, options).await,
            Step::Dropped => Err(broken()),
            Step::Forbidden => {
                Err(Error::PermissionDenied { path: path.to_string(), source: "forbidden".into() })
            }
        };
        self.others(other, path);
        if step == Step::Applied { Err(broken()) } else { done }
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.memory.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.gets.fetch_add(1, Ordering::SeqCst);
        if *self.hidden.lock().unwrap() {
            return Err(broken());
        }
        self.memory.get_opts(path, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.memory.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.memory.list(prefix).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.memory.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.memory.copy_opts(from, to, options).await
    }
}
