import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { cronjobs } from '../../src/resources/batch/cron-job.ts';
import { jobs } from '../../src/resources/batch/job/definition.ts';
import { created, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';
import { problemsOnStatus } from './workload-manifests.ts';

const podSpec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'web:1' }] };
const template = { spec: podSpec };
const metadata = { uid: 'u1' };
const job = (spec: JsonObject = {}): JsonObject => ({ metadata, spec: { template, ...spec } });
const indexed = (spec: JsonObject = {}): JsonObject =>
  job({ completionMode: 'Indexed', completions: 5, ...spec });
const cron = (spec: JsonObject = {}): JsonObject => ({
  spec: { schedule: '0 3 * * *', jobTemplate: { spec: { template } }, ...spec },
});

const FULL = indexed({
  backoffLimitPerIndex: 1,
  maxFailedIndexes: 3,
  podFailurePolicy: {
    rules: [
      { action: 'FailIndex', onExitCodes: { containerName: 'main', operator: 'In', values: [1, 42] } },
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
    ],
  },
  successPolicy: { rules: [{ succeededIndexes: '0,2-4', succeededCount: 2 }] },
});

test('good jobs and cron jobs have no problems', () => {
  expect(problemsOnCreate(jobs, job())).toEqual([]);
  expect(problemsOnCreate(jobs, FULL)).toEqual([]);
  const mine = { app: 'mine' };
  const manual = {
    manualSelector: true,
    selector: { matchLabels: mine },
    template: { metadata: { labels: mine }, spec: podSpec },
  };
  expect(problemsOnCreate(jobs, job(manual))).toEqual([]);
  expect(problemsOnCreate(cronjobs, cron({ timeZone: 'Europe/Berlin' }))).toEqual([]);
});

test('a job finds its pods by its own uid, and its labels are those of its pods', () => {
  const labels = {
    'batch.kubernetes.io/controller-uid': 'u1',
    'batch.kubernetes.io/job-name': 'it',
    'controller-uid': 'u1',
    'job-name': 'it',
  };
  const made = created(jobs, job());
  expect(made.spec).toMatchObject({
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u1' } },
    template: { metadata: { labels } },
  });
  expect(made.metadata.labels).toEqual(labels);
  const template = { metadata: { labels: { a: 'b' } }, spec: podSpec };
  expect(created(jobs, job({ template })).metadata.labels).toEqual({ ...labels, a: 'b' });
  // Charts give a job and its pods the same labels.
  for (const spec of [{}, { template }]) {
    const own = created(jobs, { ...job(spec), metadata: { ...metadata, labels: { a: 'b' } } });
    expect(own.metadata.labels).toEqual({ a: 'b' });
  }
});

test('what depends on other fields is filled in for jobs, not for the templates of cron jobs', () => {
  expect(created(jobs, job()).spec).toMatchObject({
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: 'TerminatingOrFailed',
  });
  const full = created(jobs, FULL).spec;
  expect(full).toMatchObject({ backoffLimit: 2147483647, podReplacementPolicy: 'Failed' });
  expect(full).toMatchObject({
    podFailurePolicy: { rules: [{}, { onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
  });
  expect(created(jobs, job({ parallelism: 4 })).spec).not.toHaveProperty('completions');
  const inner = created(cronjobs, cron()).spec as { jobTemplate: { spec: JsonObject } };
  expect(Object.keys(inner.jobTemplate.spec)).toEqual(['template']);
});

const generated = (labels: string): string =>
  `Invalid value: map[string]string{"batch.kubernetes.io/controller-uid":"u1", "batch.kubernetes.io/job-name":"${labels}", "controller-uid":"u1", "job-name":"it"}`;
const failurePolicy = (...rules: JsonObject[]): JsonObject => indexed({ podFailurePolicy: { rules } });
const onExitCodes = (codes: JsonObject): JsonObject =>
  failurePolicy({ action: 'FailJob', onExitCodes: { operator: 'In', ...codes } });
const successPolicy = (rule: JsonObject): JsonObject => indexed({ successPolicy: { rules: [rule] } });
const rule = 'spec.podFailurePolicy.rules[0]';
const success = 'spec.successPolicy.rules[0]';

test.each<[string, JsonObject, string[]]>([
  [
    'negative numbers',
    job({ parallelism: -1, backoffLimit: -2, ttlSecondsAfterFinished: -3 }),
    [
      'spec.backoffLimit: Invalid value: -2: must be greater than or equal to 0',
      'spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
      'spec.ttlSecondsAfterFinished: Invalid value: -3: must be greater than or equal to 0',
    ],
  ],
  [
    'pods that never end',
    job({ template: { spec: { ...podSpec, restartPolicy: 'Always' } } }),
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    'an unknown completion mode',
    job({ completionMode: 'Some' }),
    ['spec.completionMode: Unsupported value: "Some": supported values: "NonIndexed", "Indexed"'],
  ],
  [
    'limits of indexes without indexes',
    job({ backoffLimitPerIndex: 1, maxFailedIndexes: 1 }),
    [
      'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
      'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
    ],
  ],
  [
    'no number of indexes',
    job({ completionMode: 'Indexed', parallelism: 2 }),
    ['spec.completions: Required value: when completion mode is Indexed'],
  ],
  [
    'more failures than indexes',
    indexed({ maxFailedIndexes: 6 }),
    [
      'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
      'spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions',
    ],
  ],
  [
    'very many indexes',
    indexed({ completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 }),
    [
      'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
      'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
    ],
  ],
  [
    'a name too long for its pods',
    { ...indexed(), metadata: { ...metadata, name: 'n'.repeat(62) } },
    [
      `metadata.name: Invalid value: "${'n'.repeat(62)}": will not able to create pod with invalid DNS label: ${'n'.repeat(62)}-4`,
    ],
  ],
  [
    'a label of another job',
    job({ template: { metadata: { labels: { 'batch.kubernetes.io/job-name': 'x' } }, spec: podSpec } }),
    [`spec.template.metadata.labels[batch.kubernetes.io/job-name]: ${generated('x')}: must be 'it'`],
  ],
  [
    'a selector of its own',
    job({ selector: { matchLabels: { a: 'b' } } }),
    [
      'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"a":"b", "batch.kubernetes.io/controller-uid":"u1"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: `selector` not auto-generated',
      `spec.template.metadata.labels: ${generated('it')}: \`selector\` does not match template \`labels\``,
    ],
  ],
  [
    'pods replaced before they have failed',
    failurePolicyWith('TerminatingOrFailed'),
    ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
  ],
  [
    'a rule without an action',
    failurePolicy({ onExitCodes: { operator: 'In', values: [1] } }),
    [`${rule}.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`],
  ],
  [
    'a rule of nothing',
    failurePolicy({ action: 'FailIndex' }),
    [
      `${rule}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
      `${rule}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`,
    ],
  ],
  [
    'exit codes of success',
    onExitCodes({ values: [0, 3, 3, 1], containerName: 'other' }),
    [
      `${rule}.onExitCodes.containerName: Invalid value: "other": must be one of the container or initContainer names in the pod template`,
      `${rule}.onExitCodes.values: Invalid value: []int32{0, 3, 3, 1}: must be ordered`,
      `${rule}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator`,
      `${rule}.onExitCodes.values[2]: Duplicate value: 3`,
    ],
  ],
  [
    'conditions that are none',
    failurePolicy({ action: 'Count', onPodConditions: [{ type: 'a/b/c', status: 'Yes' }] }),
    [
      `${rule}.onPodConditions[0].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"`,
      expect.stringMatching(/\.onPodConditions\[0\]\.type: Invalid value: "a\/b\/c": a qualified name/),
    ],
  ],
  [
    'success without indexes',
    job({ successPolicy: { rules: [{ succeededCount: 1 }] } }),
    ['spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode'],
  ],
  [
    'success without a rule',
    indexed({ successPolicy: {} }),
    [
      'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
    ],
  ],
  [
    'success of nothing',
    successPolicy({}),
    [`${success}: Required value: at least one of succeededCount or succeededIndexes must be specified`],
  ],
  [
    'success of indexes there are not',
    successPolicy({ succeededIndexes: '1,3-5' }),
    [
      `${success}.succeededIndexes: Invalid value: "1,3-5": error parsing succeededIndexes: too large index: "5"`,
    ],
  ],
  [
    'success of falling indexes',
    successPolicy({ succeededIndexes: '3,1' }),
    [
      `${success}.succeededIndexes: Invalid value: "3,1": error parsing succeededIndexes: non-increasing order, previous: 3, current: 1`,
    ],
  ],
  [
    'more successes than indexes',
    successPolicy({ succeededIndexes: '0-2', succeededCount: 4 }),
    [
      `${success}.succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of indexes in the specified succeededIndexes field)`,
    ],
  ],
])('a job with %s is refused', (_, manifest, lines) => {
  expect(problemsOnCreate(jobs, manifest)).toEqual(lines);
});

function failurePolicyWith(podReplacementPolicy: string): JsonObject {
  const rules = [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } }];
  return job({ podFailurePolicy: { rules }, podReplacementPolicy });
}

/** A manifest as a client has it that has read the object made of it. */
const seen = (manifest: JsonObject, change: JsonObject = {}): JsonObject => {
  const { metadata: meta, spec } = created(jobs, manifest);
  return { metadata: meta, spec: { ...(spec as JsonObject), ...change } };
};

test('how many run of a job may change, and what it does may not', () => {
  const allowed = {
    parallelism: 3,
    suspend: true,
    activeDeadlineSeconds: 5,
    ttlSecondsAfterFinished: 1,
    backoffLimit: 2,
  };
  expect(problemsOnUpdate(jobs, job(), seen(job(), allowed))).toEqual([]);
  expect(problemsOnUpdate(jobs, job(), seen(job(), { completions: 2 }))).toEqual([
    'spec.completions: Invalid value: 2: field is immutable',
  ]);
  expect(problemsOnUpdate(jobs, FULL, seen(FULL, { completions: 6 }))).toEqual([
    'spec.completions: Invalid value: 6: can only be modified in tandem with spec.parallelism',
  ]);
  expect(problemsOnUpdate(jobs, FULL, seen(FULL, { completions: 6, parallelism: 6 }))).toEqual([]);
  expect(problemsOnUpdate(jobs, FULL, seen(FULL, { backoffLimitPerIndex: 2, successPolicy: null }))).toEqual([
    'spec.backoffLimitPerIndex: Invalid value: 2: field is immutable',
    'spec.successPolicy: Invalid value: "null": field is immutable',
  ]);
  const [line] = problemsOnUpdate(
    jobs,
    job(),
    seen(job(), { manualSelector: true, selector: { matchLabels: { 'job-name': 'it' } } }),
  );
  expect(line).toMatch(/^spec\.selector: Invalid value: v1\.LabelSelector\{.*\}: field is immutable$/);
});

test('where pods of a job go may change until it has begun', () => {
  const moved = (manifest: JsonObject, podChange: JsonObject): JsonObject => {
    const before = seen(manifest);
    const old = (before.spec as { template: { spec: JsonObject } }).template;
    return {
      ...before,
      spec: { ...(before.spec as JsonObject), template: { ...old, spec: { ...old.spec, ...podChange } } },
    };
  };
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }],
    },
  };
  const place = {
    nodeSelector: { a: 'b' },
    tolerations: [{ operator: 'Exists' }],
    affinity: { nodeAffinity },
  };
  const waiting = job({ suspend: true });
  expect(problemsOnUpdate(jobs, waiting, moved(waiting, place))).toEqual([]);
  const refused = [expect.stringMatching(/^spec\.template: Invalid value: .*: field is immutable$/)];
  expect(problemsOnUpdate(jobs, job(), moved(job(), place))).toEqual(refused);
  expect(problemsOnUpdate(jobs, waiting, moved(waiting, { priorityClassName: 'high' }))).toEqual(refused);
});

test('a job ends in one way', () => {
  const conditions = (...types: string[]): JsonObject => ({
    conditions: types.map((type) => ({ type, status: 'True' })),
  });
  expect(
    problemsOnStatus(jobs, job(), {
      active: -1,
      uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] },
    }),
  ).toEqual([
    'status.active: Invalid value: -1: must be greater than or equal to 0',
    'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
    'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
  ]);
  expect(problemsOnStatus(jobs, FULL, conditions('Complete'))).toEqual([
    'status.conditions: Invalid value: cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
  ]);
  expect(problemsOnStatus(jobs, job(), conditions('SuccessCriteriaMet', 'Failed'))).toEqual([
    'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions',
  ]);
  expect(problemsOnStatus(jobs, { ...job(), status: conditions('SuccessCriteriaMet') }, {})).toEqual([
    'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
  ]);
  expect(problemsOnStatus(jobs, FULL, conditions('SuccessCriteriaMet', 'Complete'))).toEqual([]);
});

test('jobs are selected by their number of successes, which is 0 when nothing is said of it', () => {
  expect(jobs.fields.read({})).toEqual({ 'status.successful': '0' });
  expect(jobs.fields.read({ status: { succeeded: 3 } })).toEqual({ 'status.successful': '3' });
});

test.each([
  '* * * * *',
  '*/5 0-6,22-23 1,15 jan-MAR/2 mon-fri',
  '0/10 ? ? * 0',
  '@hourly',
  '@every 1h30m',
  '@every 1.5s',
])('%s is a schedule', (schedule) => {
  expect(problemsOnCreate(cronjobs, cron({ schedule }))).toEqual([]);
});

test.each([
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['5-3 * * * *', 'beginning of range (5) beyond end of range (3): 5-3'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
  ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
  ['@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
  ['@every 5d', 'failed to parse duration @every 5d: time: unknown unit "d" in duration "5d"'],
  ['TZ=UTC 0 3 * * *', 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'],
])('%s is no schedule', (schedule, why) => {
  expect(problemsOnCreate(cronjobs, cron({ schedule }))).toEqual([
    `spec.schedule: Invalid value: ${JSON.stringify(schedule)}: ${why}`,
  ]);
});

test.each([
  ['', 'timeZone must be nil or non-empty string'],
  ['Nowhere/Else', 'unknown time zone Nowhere/Else'],
  ['europe/berlin', 'unknown time zone europe/berlin'],
  ['+0100', 'unknown time zone +0100'],
  ['../etc', 'unknown time zone ../etc'],
  ['Local', 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'],
])('"%s" is no time zone', (timeZone, why) => {
  expect(problemsOnCreate(cronjobs, cron({ timeZone }))).toEqual([
    `spec.timeZone: Invalid value: ${JSON.stringify(timeZone)}: ${why}`,
  ]);
});

test.each(['Etc/UTC', 'UTC', 'Asia/Kolkata', 'America/Argentina/ComodRivadavia', 'Etc/GMT+5', 'US/Pacific'])(
  '%s is a time zone',
  (timeZone) => {
    expect(problemsOnCreate(cronjobs, cron({ timeZone }))).toEqual([]);
  },
);

test('a cron job leaves room for the names and the selectors of its jobs', () => {
  const name = 'n'.repeat(53);
  expect(problemsOnCreate(cronjobs, { ...cron(), metadata: { name } })).toEqual([
    `metadata.name: Invalid value: "${name}": must be no more than 52 characters`,
  ]);
  const jobTemplate = {
    spec: { template, manualSelector: true, selector: { matchLabels: { a: 'b' } }, backoffLimit: -1 },
  };
  expect(problemsOnCreate(cronjobs, cron({ jobTemplate, failedJobsHistoryLimit: -1 }))).toEqual([
    'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
    'spec.jobTemplate.spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0',
    'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    'spec.jobTemplate.spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: `selector` will be auto-generated',
  ]);
  expect(problemsOnUpdate(cronjobs, cron(), cron({ schedule: '@daily', suspend: true }))).toEqual([]);
});
