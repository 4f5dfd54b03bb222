// Written from src/api/idl/batch/v1.proto by the build. Change that file, not this one.

import type { ObjectReference, PodTemplateSpec } from '../core/v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Creates a job at the times of a schedule. */
export type CronJob = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: CronJobSpec;
  /** What was last observed. Written by controllers. */
  status?: CronJobStatus;
};

/** A list of cron jobs. */
export type CronJobList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The CronJobs of this page. */
  items?: CronJob[] | null;
};

/** When a cron job creates jobs, and which. */
export type CronJobSpec = {
  /** When to run, in cron form: minute, hour, day of month, month, day of week; or a short form such as @hourly. */
  schedule?: string;
  /** Time zone of the schedule, by its name in the tz database, such as Europe/Berlin. That of the controller manager unless set. */
  timeZone?: string;
  /** Seconds after its time until which a missed run may still start; later it is skipped. No limit unless set. */
  startingDeadlineSeconds?: number | bigint;
  /** What to do when the job before still runs: Allow runs both, Forbid skips the new one, Replace ends the old one. Allow unless set. */
  concurrencyPolicy?: string;
  /** No new jobs while this is true; jobs that run are left alone. False unless set. */
  suspend?: boolean;
  /** The jobs to create. */
  jobTemplate?: JobTemplateSpec;
  /** How many jobs that succeeded are kept. 3 unless set; 0 keeps none. */
  successfulJobsHistoryLimit?: number;
  /** How many jobs that failed are kept. 1 unless set; 0 keeps none. */
  failedJobsHistoryLimit?: number;
};

/** What was last observed of a cron job. */
export type CronJobStatus = {
  /** The jobs that run now. */
  active?: ObjectReference[];
  /** When a job was last created. */
  lastScheduleTime?: string;
  /** When a job last finished successfully. */
  lastSuccessfulTime?: string;
};

/** Runs pods until a number of them has finished successfully. */
export type Job = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: JobSpec;
  /** What was last observed. Written by controllers. */
  status?: JobStatus;
};

/** One aspect of the state of a job, and since when it holds: Suspended, SuccessCriteriaMet, Complete, FailureTarget or Failed. The job is finished once Complete or Failed is True. */
export type JobCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** When this was last checked. */
  lastProbeTime?: string | null;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A list of jobs. */
export type JobList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Jobs of this page. */
  items?: Job[] | null;
};

/** Which pods a job runs, how many must succeed, and when it gives up. */
export type JobSpec = {
  /** How many pods run at the same time at most. 1 unless set; 0 keeps any from running. */
  parallelism?: number;
  /** How many pods must succeed. If only parallelism is set, the job is complete when one pod has succeeded and all have ended; if neither is, 1. Required for Indexed. */
  completions?: number;
  /** Seconds from its start after which the job fails and its pods are ended. The time starts anew when a suspended job goes on. No limit unless set. */
  activeDeadlineSeconds?: number | bigint;
  /** What a failed pod means for the job, by exit code or condition. Needs the pod restart policy Never. Every failure counts towards backoffLimit unless set. */
  podFailurePolicy?: PodFailurePolicy;
  /** When an Indexed job counts as successful before all its indexes have succeeded. All must succeed unless set. */
  successPolicy?: SuccessPolicy;
  /** How many failures of pods are tried again before the job fails. 6 unless set, or without limit if backoffLimitPerIndex is set. */
  backoffLimit?: number;
  /** How many failures of one index are tried again before that index fails. Only for Indexed jobs with the pod restart policy Never; cannot be changed. */
  backoffLimitPerIndex?: number;
  /** How many indexes may fail before the whole job fails at once. No limit unless set. Needs backoffLimitPerIndex. */
  maxFailedIndexes?: number;
  /** Which pods belong to the job. The server fills it in; set it only together with manualSelector. */
  selector?: LabelSelector;
  /** True takes selector and the labels of the template as they are, and you have to make sure they are unique. False unless set. */
  manualSelector?: boolean;
  /** The pods to make. The restart policy must be Never or OnFailure. Cannot be changed, except for labels and placement while the job is suspended and has not started. */
  template?: PodTemplateSpec;
  /** Seconds until a finished job is deleted with its pods; 0 deletes it at once. It is kept unless set. */
  ttlSecondsAfterFinished?: number;
  /** NonIndexed counts successful pods, all alike; Indexed gives every pod a number from 0 to completions-1, and each number must succeed. NonIndexed unless set; cannot be changed. */
  completionMode?: string;
  /** While true, no pods are made and those that run are ended. False unless set. */
  suspend?: boolean;
  /** When a pod is replaced: TerminatingOrFailed as soon as it is being deleted or has failed, Failed only when it has ended. TerminatingOrFailed unless set; with a podFailurePolicy it is Failed, and nothing else is allowed. */
  podReplacementPolicy?: string;
  /** Who runs the job, as a name with a domain, such as example.com/queue. The job controller unless set or if kubernetes.io/job-controller. Cannot be changed; needs the feature gate JobManagedBy. */
  managedBy?: string;
};

/** What was last observed of a job. */
export type JobStatus = {
  /** Aspects of the state, each with since when it holds. */
  conditions?: JobCondition[];
  /** When the job controller first took up the job, or took it up again after it was suspended. Empty while it is suspended. */
  startTime?: string;
  /** When the job was completed. Set only if it succeeded. */
  completionTime?: string;
  /** How many pods are pending or running and not being deleted. */
  active?: number;
  /** How many pods have succeeded. */
  succeeded?: number;
  /** How many pods have failed. */
  failed?: number;
  /** How many pods are being deleted but have not ended yet. */
  terminating?: number;
  /** Which indexes have succeeded, as numbers and ranges, such as 1,3-5,7. Only for Indexed jobs. */
  completedIndexes?: string;
  /** Which indexes have failed for good, as numbers and ranges, such as 1,3-5,7. Only with backoffLimitPerIndex. */
  failedIndexes?: string;
  /** Pods that have ended but are not yet in the counts. For the job controller itself, which keeps it right when it is interrupted. */
  uncountedTerminatedPods?: UncountedTerminatedPods;
  /** How many of the active pods are ready. */
  ready?: number;
};

/** What the jobs of a cron job are made from. */
export type JobTemplateSpec = {
  /** Labels and annotations that the jobs get. */
  metadata?: ObjectMeta;
  /** What is wanted of the jobs. */
  spec?: JobSpec;
};

/** What failed pods mean for a job, by rules. */
export type PodFailurePolicy = {
  /** At most 20, tried in order; the first that matches a failed pod decides. If none does, the failure counts towards backoffLimit. */
  rules?: PodFailurePolicyRule[] | null;
};

/** Matches failed pods by the exit codes of their containers. */
export type PodFailurePolicyOnExitCodesRequirement = {
  /** Name of the only container, or init container, to look at. All of them unless set. */
  containerName?: string;
  /** In: a container ended with one of the values; NotIn: one ended with an exit code, other than 0, that is none of them. */
  operator?: string;
  /** The exit codes, at most 255, each once and in ascending order. 0 is not allowed for In. */
  values?: number[] | null;
};

/** Matches failed pods by one of their conditions. */
export type PodFailurePolicyOnPodConditionsPattern = {
  /** Type of the condition, such as DisruptionTarget. */
  type?: string;
  /** Status the condition must have: True, False or Unknown. True unless set. */
  status?: string;
};

/** Which failed pods a rule matches, and what follows. It has either onExitCodes or onPodConditions. */
export type PodFailurePolicyRule = {
  /** FailJob fails the whole job, FailIndex only the pod's index, Ignore replaces the pod without counting, and Count counts it towards backoffLimit. FailIndex needs backoffLimitPerIndex. */
  action?: string;
  /** The exit codes that match. */
  onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  /** Conditions, at most 20; a pod matches that has one of them. */
  onPodConditions?: PodFailurePolicyOnPodConditionsPattern[];
};

/** When a job counts as successful although not all its indexes have succeeded. */
export type SuccessPolicy = {
  /** At most 20. As soon as one is met the job succeeds and the pods still running are ended. */
  rules?: SuccessPolicyRule[] | null;
};

/** Which indexes must have succeeded, or how many. With both, that many of the indexes listed. */
export type SuccessPolicyRule = {
  /** The indexes that count, as numbers and ranges, such as 1,3-5,7. All must succeed unless succeededCount is set. */
  succeededIndexes?: string;
  /** How many indexes must succeed, of those listed or, if none are, of all. */
  succeededCount?: number;
};

/** Pods that have ended but are not yet in the counts of the status. */
export type UncountedTerminatedPods = {
  /** UIDs of the pods that succeeded. */
  succeeded?: string[];
  /** UIDs of the pods that failed. */
  failed?: string[];
};
