//! S3: `s3://bucket/prefix`, and services with its protocol through `endpoint`.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use zarr_store::{Access, PathEncoding, Scheme};
use zarr_traits::{Storage, StoreError, StoreErrorKind, StoreResult};

use crate::client::Client;
use crate::cloud::{Place, retries};
use crate::services::{misconfigured, no_retries};

pub(crate) const SCHEME: Scheme = Scheme::root("s3", PathEncoding::Plain, open);

/// The number of objects in one delete request.
const BATCH: usize = 1000;

fn open(url: &str, access: &Access) -> StoreResult<Storage> {
    let place = Place::parse(url)?;
    let access = &with_bundle(access)?;
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(place.container)
        .with_retry(no_retries())
        .with_http_connector(Client::new(retries(access), None, access)?);
    for (name, value) in
        access.environment.iter().filter(|(name, value)| name.starts_with("AWS_") && !value.is_empty())
    {
        match name.to_ascii_lowercase().parse() {
            // The URL has the bucket, and the client has its own settings.
            Ok(AmazonS3ConfigKey::Bucket | AmazonS3ConfigKey::Client(_)) | Err(_) => {}
            Ok(key) => builder = builder.with_config(key, value),
        }
    }
    let profile = Profile::of(access)?;
    for (key, value) in profile.settings(access)? {
        builder = builder.with_config(key, value);
    }
    if let Some(region) = &access.region {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = &access.endpoint {
        // The setting for S3 alone, which takes precedence over the general one.
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
    }
    if access.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint]
        .iter()
        .find_map(|key| builder.get_config_value(key));
    let single = builder.get_config_value(&AmazonS3ConfigKey::DisableBulkDelete).as_deref() == Some("true");
    let store = Arc::new(builder.build().map_err(|e| misconfigured(&e))?);
    // Directory buckets have this ending. They do not list in order, and copy with requests of their own.
    let is_directory = place.container.ends_with("--x-s3");
    let storage = place.storage(store.clone(), access)?.with_service(|service| {
        service.pages = Some(store);
        service.ordered = !is_directory;
        service.batch = if single { 1 } else { BATCH };
    });
    if is_directory {
        return Ok(Storage::from(storage));
    }
    let container = format!("s3 {} {}", endpoint.unwrap_or_default(), place.container);
    Ok(Storage::from(storage.with_copies(container)))
}

/// Returns `access` with the certificates of the file that `AWS_CA_BUNDLE` names, unless it has certificates.
fn with_bundle(access: &Access) -> StoreResult<Access> {
    let access = access.clone();
    let bundle = access.variable("AWS_CA_BUNDLE").filter(|_| access.root_certificates.is_none());
    let Some(file) = bundle.map(str::to_owned) else { return Ok(access) };
    let pem = fs::read(&file).map_err(|e| {
        let message = format!("AWS_CA_BUNDLE: {file:?} cannot be read: {e}");
        StoreError::new(StoreErrorKind::InvalidArgument, message)
    })?;
    Ok(access.root_certificates(pem))
}

/// A section of the AWS configuration files in the user's folder.
#[derive(Debug, Default)]
struct Profile {
    name: String,
    /// Lower-case names with values. Those of the credentials file come first.
    values: Vec<(String, String)>,
}

impl Profile {
    /// Finds the requested profile, or else `default` if it exists.
    fn of(access: &Access) -> StoreResult<Self> {
        let asked = access.profile.as_deref().or_else(|| access.variable("AWS_PROFILE"));
        let name = asked.unwrap_or("default");
        let home = access.variable("HOME").or_else(|| access.variable("USERPROFILE")).map(PathBuf::from);
        let file = |variable: &str, usual: &str| {
            access
                .variable(variable)
                .map(PathBuf::from)
                .or_else(|| Some(home.as_ref()?.join(".aws").join(usual)))
        };
        let files = [file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), file("AWS_CONFIG_FILE", "config")];
        let mut profile = Self { name: name.to_owned(), values: Vec::new() };
        let mut found = false;
        for path in files.into_iter().flatten() {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            if let Some(values) = section(&text, name) {
                found = true;
                profile.values.extend(values);
            }
        }
        if asked.is_some() && !found {
            let message =
                format!("there is no profile {name:?} in the AWS credentials and configuration files");
            return Err(StoreError::new(StoreErrorKind::InvalidArgument, message));
        }
        Ok(profile)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// Returns the settings of the profile. Environment variables take precedence, unless `access` names the profile.
    fn settings(&self, access: &Access) -> StoreResult<Vec<(AmazonS3ConfigKey, String)>> {
        use AmazonS3ConfigKey as K;
        let asked = access.profile.is_some();
        let free = |variables: &[&str]| asked || variables.iter().all(|name| access.variable(name).is_none());
        let mut set = Vec::new();
        let mut take = |key, name| set.extend(self.get(name).map(|value| (key, value.to_owned())));
        if free(&["AWS_REGION", "AWS_DEFAULT_REGION"]) {
            take(K::Region, "region");
        }
        if free(&["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"]) {
            take(K::Endpoint, "endpoint_url");
        }
        let credentials =
            ["AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"];
        if !access.anonymous && free(&credentials) {
            take(K::AccessKeyId, "aws_access_key_id");
            take(K::SecretAccessKey, "aws_secret_access_key");
            take(K::Token, "aws_session_token");
            take(K::WebIdentityTokenFile, "web_identity_token_file");
            take(K::RoleArn, "role_arn");
            take(K::RoleSessionName, "role_session_name");
            let usable =
                self.get("aws_access_key_id").is_some() || self.get("web_identity_token_file").is_some();
            let others =
                ["credential_process", "sso_session", "sso_start_url", "source_profile", "credential_source"];
            if let Some(other) = others.into_iter().find(|name| !usable && self.get(name).is_some()) {
                let message = format!(
                    "profile {:?} gets its credentials by {other}, which is not supported: \
                     `aws configure export-credentials --profile {} --format env` prints variables that are",
                    self.name, self.name
                );
                return Err(StoreError::new(StoreErrorKind::Unsupported, message));
            }
        }
        Ok(set)
    }
}

/// Returns the settings of a section `[name]` or `[profile name]`, or `None` if there is no such section.
fn section(text: &str, name: &str) -> Option<Vec<(String, String)>> {
    let (mut inside, mut found) = (false, None);
    for line in text.lines() {
        let indented = line.starts_with([' ', '\t']);
        let line = line.trim();
        if let Some(title) = line.strip_prefix('[') {
            let title = title.split(']').next().unwrap_or(title).trim();
            let title = title.strip_prefix("profile ").map_or(title, str::trim);
            inside = title == name;
            if inside {
                found.get_or_insert_with(Vec::new);
            }
        } else if inside
            && !indented // settings of a setting
            && !line.starts_with(['#', ';'])
            && let Some((key, value)) = line.split_once('=')
            && let Some(found) = &mut found
        {
            found.push((key.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = ID\naws_secret_access_key=SECRET\n\
        # [other]\n[other]\naws_access_key_id=OTHER\naws_secret_access_key=o=o\n";
    const CONFIG: &str = "[default]\nregion = eu-west-1\ns3 =\n  endpoint_url = http://no\n[profile other]\nregion=us-west-2\n\
        endpoint_url = http://127.0.0.1:9\n[profile single]\nsso_session = x\n";

    fn access() -> (tempfile::TempDir, Access) {
        let folder = tempfile::tempdir().unwrap();
        let aws = folder.path().join(".aws");
        fs::create_dir(&aws).unwrap();
        fs::write(aws.join("credentials"), CREDENTIALS).unwrap();
        fs::write(aws.join("config"), CONFIG).unwrap();
        let home = ("HOME".to_owned(), folder.path().to_str().unwrap().to_owned());
        (folder, Access::new().environment([home]))
    }

    fn settings(access: &Access) -> Vec<String> {
        let settings = Profile::of(access).unwrap().settings(access).unwrap();
        settings.into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn profiles_are_found_in_the_files_of_aws() {
        let (_folder, access) = access();
        assert_eq!(settings(&access), ["eu-west-1", "ID", "SECRET"]);
        assert_eq!(
            settings(&access.clone().profile("other")),
            ["us-west-2", "http://127.0.0.1:9", "OTHER", "o=o"]
        );
        assert_eq!(settings(&access.clone().anonymous(true)), ["eu-west-1"]);
        let e = Profile::of(&access.clone().profile("none")).unwrap_err();
        assert!(format!("{e:#}").contains("no profile \"none\""), "{e:#}");
        let single = access.profile("single");
        let e = Profile::of(&single).unwrap().settings(&single).unwrap_err();
        assert_eq!(e.kind(), StoreErrorKind::Unsupported);
    }

    #[test]
    fn the_environment_precedes_a_default_profile() {
        let (_folder, mut access) = access();
        access.environment.insert("AWS_ACCESS_KEY_ID".to_owned(), "MINE".to_owned());
        access.environment.insert("AWS_REGION".to_owned(), "here".to_owned());
        assert_eq!(settings(&access), Vec::<String>::new());
        assert_eq!(settings(&access.profile("default")), ["eu-west-1", "ID", "SECRET"]);
    }
}
