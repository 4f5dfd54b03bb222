import { podSpec, podStatus } from '../manifests.ts';
import { type ManagedObject, managed } from './managed.ts';

/** How much history is made, and of how many objects. */
export interface ScaleSize {
  readonly revisions: number;
  readonly objects: number;
  /** Objects of 0.2 kB and short ids, for half the disk. */
  readonly isSmall: boolean;
  /** With their status and who owns which field, as those of a cluster are: pods of 5 kB. */
  readonly isWhole?: boolean;
}

/** Where it lies in the log. Everything else follows from the number of a revision. */
export interface Log extends ScaleSize {
  /** Its first revision. */
  readonly first: number;
  /** The newest revision before it. */
  readonly follows: number;
  /** When it begins. */
  readonly from: Date;
  readonly days: number;
}

interface Kind {
  readonly group: string;
  readonly resource: string;
  /** SQL of the namespace; `idx` is the number of the object. */
  readonly namespace: string;
  readonly prefix: string;
  /** How many there are. */
  readonly count: number;
  /** Its writes in a turn of the log: the first of them and how many. */
  readonly slot: number;
  readonly each: number;
  /** SQL of the user's name. */
  readonly who: string;
  readonly agent: string;
  /** The stored object: %1$s the number, %2$s the uid, %3$s the namespace, %4$s the revision, %5$s the time. */
  readonly json: object;
}

export const NAMESPACES = 1000;
export const DAYS = 10;
/** Writes that are committed together, and after which the kinds come in the same order again. */
const TURN = 20;
/** Coprime to every count that is not a multiple of it: neighbours in time are no neighbours in the table. */
const STRIDES = [7919, 7907];
const MINIMUM_OBJECTS = 5000;

const CREATED = '2026-01-01T00:00:00Z';
const IN_A_NAMESPACE = `'ns-' || idx % ${NAMESPACES}`;

const metadata = (name: string, more: object = {}): object => ({
  name,
  namespace: '%3$s',
  uid: '%2$s',
  creationTimestamp: CREATED,
  ...more,
});

const lease: object = {
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: metadata('node-%1$s', {
    managedFields: [
      {
        manager: 'kubelet',
        operation: 'Update',
        apiVersion: 'coordination.k8s.io/v1',
        time: CREATED,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:holderIdentity': {}, 'f:leaseDurationSeconds': {}, 'f:renewTime': {} } },
      },
    ],
  }),
  spec: { holderIdentity: 'node-%1$s', leaseDurationSeconds: 40, renewTime: '%5$s' },
};

const pod = (prefix: string): object => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: metadata(`${prefix}%1$s`, { labels: { app: 'web', track: 'stable' } }),
  spec: {
    nodeName: 'node-%1$s',
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    containers: [
      {
        name: 'web',
        image: 'registry.example.com/shop/web:1.42.0',
        imagePullPolicy: 'IfNotPresent',
        resources: { requests: { cpu: '100m', memory: '128Mi' } },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
  },
  status: { phase: 'Running', message: 'at %4$s', hostIP: '10.0.0.1', podIP: '10.1.0.1', startTime: CREATED },
});

const configMap: object = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: metadata('settings-%1$s', { labels: { app: 'web' } }),
  data: { turn: '%4$s', 'application.properties': 'server.tuning.parameter=a-typical-value\n'.repeat(8) },
};

const namespace: object = {
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: {
    name: 'ns-%1$s',
    uid: '%2$s',
    creationTimestamp: CREATED,
    labels: { 'kubernetes.io/metadata.name': 'ns-%1$s' },
  },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
};

const BRIEF = { name: '', namespace: '%3$s', uid: '%2$s' };

/** What is left of them when there is to be much of it. */
const BRIEF_JSON: Readonly<Record<string, (prefix: string) => object>> = {
  leases: (prefix) => ({
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { ...BRIEF, name: `${prefix}%1$s` },
    spec: { renewTime: '%5$s' },
  }),
  pods: (prefix) => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { ...BRIEF, name: `${prefix}%1$s` },
    spec: { nodeName: 'node-%1$s', containers: [{ name: 'web', image: 'web:1.42.0' }] },
    status: { phase: 'Running', message: 'at %4$s' },
  }),
  configmaps: (prefix) => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { ...BRIEF, name: `${prefix}%1$s` },
    data: { turn: '%4$s' },
  }),
};

const shorten = (kind: Kind): Kind => ({
  ...kind,
  agent: kind.agent.replace(/ .*/, ''),
  json: BRIEF_JSON[kind.resource]?.(kind.prefix) ?? kind.json,
});

/** What is in those of a cluster. */
const WHOLE_JSON: Readonly<Record<string, (brief: BriefObject) => ManagedObject>> = {
  pods: (brief) => {
    const status = { ...podStatus(1), message: 'at %4$s' };
    return { ...brief, spec: { ...podSpec(1), nodeName: 'node-%1$s' }, status };
  },
};

const complete = (kind: Kind): Kind => {
  const brief = kind.json as BriefObject;
  return { ...kind, json: managed(WHOLE_JSON[kind.resource]?.(brief) ?? brief) };
};

interface BriefObject extends ManagedObject {
  readonly kind: string;
}

/** The order is that of creation; jobs, which are created and deleted all the time, come last. */
function kindsOf(objects: number): Kind[] {
  const [leases, pods] = [Math.floor(objects / 50), Math.floor(objects * 0.38)];
  const jobs = jobsOf(objects);
  const core = { group: '', namespace: IN_A_NAMESPACE };
  const node = "'system:node:node-' || idx";
  const kubelet = 'kubelet/v1.31.0 (linux/amd64)';
  return [
    {
      ...{ ...core, resource: 'namespaces', namespace: "''", prefix: 'ns-', count: NAMESPACES },
      ...{
        slot: 0,
        each: 0,
        who: "'kubernetes-admin'",
        agent: 'kubectl/v1.31.0 (linux/amd64)',
        json: namespace,
      },
    },
    {
      ...{
        group: 'coordination.k8s.io',
        resource: 'leases',
        namespace: "'kube-node-lease'",
        prefix: 'node-',
      },
      ...{ count: leases, slot: 8, each: 12, who: node, agent: kubelet, json: lease },
    },
    {
      ...{ ...core, resource: 'pods', prefix: 'web-', count: pods },
      ...{ slot: 3, each: 5, who: node, agent: kubelet, json: pod('web-') },
    },
    {
      ...{ ...core, resource: 'configmaps', prefix: 'settings-' },
      ...{ count: objects - NAMESPACES - leases - pods - jobs, slot: 2, each: 1 },
      ...{ who: "'user-' || idx % 50", agent: 'kubectl/v1.31.0 (linux/amd64)', json: configMap },
    },
    {
      ...{ ...core, resource: 'pods', prefix: 'job-', count: jobs, slot: 0, each: 2 },
      ...{ who: "'system:serviceaccount:kube-system:job-controller'", json: pod('job-') },
      agent: 'kube-controller-manager/v1.31.0 (linux/amd64)',
    },
  ];
}

const JOBS = 4;

/** How many jobs live at once. */
const jobsOf = (objects: number): number => Math.floor(objects / 100);

/**
 * A log of which each row can be computed from its revision alone, so that it is written in any order and in parallel. First every
 * object is created. Then come turns of 20 writes: a job ends and one begins, a config map changes, five pods, twelve leases.
 * Each kind goes through its objects in an order of its own, so what a write replaces is as many writes of the kind before.
 */
export class Shape {
  readonly log: Log;
  readonly #kinds: readonly Kind[];
  readonly #turns: number;
  readonly #created: number;

  /** @throws RangeError */
  constructor(log: Log) {
    const { revisions, objects } = log;
    if (objects < MINIMUM_OBJECTS) throw new RangeError(`--objects must be ${MINIMUM_OBJECTS} or more`);
    const jobs = jobsOf(objects);
    this.log = log;
    this.#created = objects - jobs;
    this.#turns = Math.floor((revisions - this.#created + jobs) / TURN);
    if (this.#turns < jobs) throw new RangeError('--revisions must be 1.2 times --objects or more');
    const kinds = kindsOf(objects);
    this.#kinds = log.isSmall ? kinds.map(shorten) : log.isWhole ? kinds.map(complete) : kinds;
  }

  /** Revisions from the first to the last of them; those of the first jobs' ends are left out. */
  get span(): number {
    return this.#created + TURN * this.#turns;
  }

  get last(): number {
    return this.log.first + this.span - 1;
  }

  /** SELECT of some rows of the log; `ids` is a SELECT of their revisions. */
  rows(ids: string): string {
    const { first, follows, from, days, objects } = this.log;
    const created = this.#created;
    const jobs = jobsOf(objects);
    const stepUs = (days * 86_400e6) / this.span;
    const isFirst = `i < ${created}`;
    const isJob = `kind = ${JOBS} AND i >= ${created}`;
    return `
SELECT r AS revision, api_group, resource, namespace, prefix || idx AS name, uid, verb,
  CASE WHEN verb = 'create' THEN NULL
    WHEN ${isJob} THEN r - ${TURN * jobs - 1}
    WHEN turn < count THEN ${first} + begins + idx
    ELSE ${first + created} + ${TURN} * ((turn - count) / each) + slot + (turn - count) % each
  END AS previous_revision,
  format(json, idx, uid, namespace, r, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::json AS object,
  at AS committed_at, gen_random_uuid() AS write_id, who AS username, agent AS user_agent,
  '10.0.' || idx / 250 % 250 || '.' || idx % 250 AS source_address, ${this.log.isSmall ? 'left(gen_random_uuid()::text, 18)' : 'gen_random_uuid()::text'} AS request_id,
  split_part(agent, '/', 1) AS field_manager,
  CASE WHEN batch = 0 THEN ${follows} ELSE ${first - 1} + batch END AS follows_revision
FROM (
  SELECT *, ${cases(this.#kinds.map(({ namespace: of }) => of))} AS namespace,
    ${cases(this.#kinds.map(({ who }) => who))} AS who,
    ${this.log.isSmall ? 'left(md5(prefix || idx), 16)' : 'md5(prefix || idx)::uuid::text'} AS uid,
    timestamptz '${from.toISOString()}' + batch * ${stepUs}::float8 * interval '1 microsecond' AS at,
    CASE WHEN ${isFirst} OR kind = ${JOBS} AND place = 1 THEN 'create' WHEN ${isJob} THEN 'delete' ELSE 'update' END AS verb
  FROM (
    SELECT *, CASE
        WHEN ${isFirst} THEN i - begins
        WHEN kind = ${JOBS} THEN (i - ${created}) / ${TURN} - (1 - place) * ${jobs}
        ELSE turn * stride % count
      END AS idx
    FROM (
      SELECT p.*, k.*, (i - ${created}) / ${TURN} * each + place - slot AS turn
      FROM (
        SELECT r, i, place,
          CASE WHEN ${isFirst} THEN i / ${TURN} * ${TURN} ELSE i - place END AS batch,
          CASE WHEN ${isFirst} THEN ${this.#createdKind()}
            WHEN place < 2 THEN ${JOBS} WHEN place = 2 THEN 3 WHEN place < 8 THEN 2 ELSE 1 END AS of
        FROM (SELECT r, r - ${first} AS i, (r - ${first + created}) % ${TURN} AS place FROM (${ids}) AS g (r)) n
        WHERE NOT (i >= ${created} AND place = 0 AND i < ${created + TURN * jobs})
      ) p
      JOIN (VALUES ${this.#values()}) AS k (kind, api_group, resource, prefix, count, begins, slot, each, stride, agent, json)
        ON k.kind = p.of
    ) t
  ) o
) s`;
  }

  /** SELECT of the revisions from one up to before another. */
  between(low: number, high: number): string {
    return `SELECT generate_series(${low}::bigint, ${high - 1})`;
  }

  /** SELECT of the last revision of each object that is left in the end. */
  lastRevisions(): string {
    const { first } = this.log;
    const begin = first + this.#created;
    const ofKinds = this.#kinds.slice(0, JOBS).map(({ count, slot, each }, kind) => {
      const turns = this.#turns * each;
      const created = `${first + this.#begins(kind)} + (q + ${count}) * ${strideFor(count)} % ${count}`;
      const changed = each === 0 ? 'NULL' : `${begin} + ${TURN} * (q / ${each}) + ${slot} + q % ${each}`;
      return `SELECT CASE WHEN q < 0 THEN ${created} ELSE ${changed} END
        FROM generate_series(${turns - count}::bigint, ${turns - 1}) AS q`;
    });
    const ofJobs = `SELECT ${begin} + ${TURN} * b + 1
      FROM generate_series(${this.#turns - jobsOf(this.log.objects)}::bigint, ${this.#turns - 1}) AS b`;
    return [...ofKinds, ofJobs].join(' UNION ALL ');
  }

  #begins(kind: number): number {
    return this.#kinds.slice(0, kind).reduce((sum, { count }) => sum + count, 0);
  }

  #createdKind(): string {
    const cases = this.#kinds
      .slice(0, JOBS)
      .map((_, kind) => `WHEN i < ${this.#begins(kind + 1)} THEN ${kind}`);
    return `CASE ${cases.join(' ')} END`;
  }

  #values(): string {
    const rows = this.#kinds.map(({ group, resource, prefix, count, slot, each, agent, json }, kind) => {
      const texts = [group, resource, prefix].map((text) => `'${text}'`);
      const numbers = [count, this.#begins(kind), slot, each, strideFor(count)].map(
        (number) => `${number}::bigint`,
      );
      return `(${[kind, ...texts, ...numbers, `'${agent}'`, `'${JSON.stringify(json)}'`].join(', ')})`;
    });
    return rows.join(', ');
  }
}

const cases = (values: readonly string[]): string =>
  `CASE kind ${values.map((value, kind) => `WHEN ${kind} THEN ${value}`).join(' ')} END`;

const strideFor = (count: number): number => STRIDES.find((stride) => count % stride !== 0) ?? 1;
