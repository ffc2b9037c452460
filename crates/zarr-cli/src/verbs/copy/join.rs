//! `zarr copy --join`: a copy that several processes share.

use zarr_copy::{Copy, CopyPlan, Share, SharedCopy};

use super::{Args, report};
use crate::args::stores::shown;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::stdout::print;

/// The threads of a process. They decide into which parts a copy is cut, so they do not depend on the machine.
pub(crate) const THREADS: usize = 4;

/// Lets all processes cut the copy into the same parts.
pub(super) fn cut(copy: Copy) -> Copy {
    copy.threads(THREADS)
}

/// Returns the job that the options describe.
pub(super) fn job(args: &Args, name: &str) -> Result<SharedCopy, Failure> {
    Ok(SharedCopy::new(name)?.lease(args.lease).verify(args.verify))
}

/// Prints what this process did, or says how a copy that failed is continued.
pub(super) fn report(args: &Args, plan: &CopyPlan, share: Result<Share, Failure>) -> Outcome {
    let share = share.map_err(|e| {
        let destination = shown(&args.destination);
        let advice = format!("the copy to {destination:?} is not complete; the same command continues it");
        Failure::new(e.exit(), format!("{}; {advice}", e.message()))
    })?;
    if args.json {
        print(&report::share_json(plan, &share, args.verify))?;
    } else if !args.quiet {
        print(&report::share(plan, &share, args.verify))?;
    }
    Ok(Exit::Ok)
}
