import type { Figures, Stage } from '../bench.ts';
import { type RowTemplate, RowWriter, slices } from '../limit/rows.ts';
import { KINDS, type KindName, nodeStatus, podStatus } from '../manifests.ts';
import { type ManagedObject, managed } from '../scale/managed.ts';
import { UpkeepDatabase } from './upkeep-database.ts';

const BATCH = 500;
const STEP_S = 300;
const HOUR_S = 3600;
const DAY_S = 86_400;
const MEGABYTE = 1e6;
const PODS_OF_A_NODE = 30;
const IMAGES = 40;
/**
 * Leases of the controller manager and the scheduler are renewed every two seconds: as many rows as of twenty leases that are renewed
 * every twenty seconds, which take fewer commits.
 */
const LEADERS = 20;
const LEADER_S = 20;

/** Objects of one kind that are written at an interval. */
interface Routine {
  readonly kind: KindName;
  readonly name: string;
  readonly namespace: string;
  readonly json: string;
  readonly objects: number;
  /** Writes in five minutes, to one object after the other. */
  readonly writes: number;
  /** Each write makes an object, and the oldest goes after an hour. */
  readonly passes?: boolean;
}

/**
 * What history takes of a cluster at rest: each node renews its lease every ten seconds and reports its status every five minutes, one of
 * its thirty pods reports something every ten, and two events are made for it in an hour. Time is simulated, at five minutes a step.
 */
export async function atRest(stage: Stage, nodes: number): Promise<readonly Figures[]> {
  // Long enough that leases of the first hours have left; what is kept longer grows alike from there.
  const hours = stage.scale(26, 5);
  return [
    await live({ nodes, hours, shorter: {}, scenario: `upkeep/at-rest/${nodes}/all-for-a-day` }),
    await live({
      ...{ nodes, hours, scenario: `upkeep/at-rest/${nodes}` },
      shorter: { 'leases.coordination.k8s.io': HOUR_S, events: HOUR_S },
    }),
  ];
}

interface Life {
  readonly nodes: number;
  readonly hours: number;
  readonly shorter: Readonly<Record<string, number>>;
  readonly scenario: string;
}

async function live({ nodes, hours, shorter, scenario }: Life): Promise<Figures> {
  await using database = await UpkeepDatabase.start();
  await database.keepHistory(DAY_S, shorter);
  await using writers = new AsyncDisposableStack();
  const routines: { readonly routine: Routine; readonly writer: RowWriter; written: number }[] = [];
  for (const routine of routinesOf(nodes)) {
    const writer = writers.use(await RowWriter.connect(database.url, routine as RowTemplate));
    for (const slice of slices(0, routine.objects, BATCH)) await writer.write('create', slice);
    routines.push({ routine, writer, written: 0 });
  }
  const sizes: number[] = [await sizeOf(database)];
  let writes = 0;
  for (let at = 0; at < hours * HOUR_S; at += STEP_S) {
    for (const one of routines) {
      await pass(one);
      writes += one.routine.writes;
    }
    await database.passTime(STEP_S);
    await database.compact();
    if ((at + STEP_S) % HOUR_S === 0) sizes.push(await sizeOf(database));
  }
  const half = Math.floor(hours / 2);
  const [middle = 0, end = 0] = [sizes[half], sizes.at(-1)];
  return {
    scenario,
    unit: 'writes',
    count: writes,
    facts: {
      'writes an hour': writes / hours,
      'MB of history in the end': end / MEGABYTE,
      'MB an hour in the later half': (end - middle) / MEGABYTE / (hours - half),
      'most MB': Math.max(...sizes) / MEGABYTE,
      'MB of objects': (await database.number("pg_total_relation_size('objects')")) / MEGABYTE,
      'kB a write': (sizes[1] ?? 0) / 1000 / (writes / hours),
      hours,
    },
  };
}

/** Five minutes of one routine. */
async function pass(one: {
  readonly routine: Routine;
  readonly writer: RowWriter;
  written: number;
}): Promise<void> {
  const { routine, writer } = one;
  const { objects, writes, passes } = routine;
  for (const slice of slices(one.written, writes, Math.min(BATCH, objects))) {
    if (passes === true) {
      await writer.write('delete', slice);
      await writer.write(
        'create',
        slice.map((n) => n + objects),
      );
    } else
      await writer.write(
        'update',
        slice.map((n) => n % objects),
      );
  }
  one.written += writes;
}

/** Of all that is history, and not the current state. */
const sizeOf = (database: UpkeepDatabase): Promise<number> =>
  database.number(
    "SELECT pg_total_relation_size('superseded') + (SELECT sum(pg_total_relation_size(p.partition)) FROM log_partitions() p)",
  );

function routinesOf(nodes: number): Routine[] {
  const steps = { ofLease: STEP_S / 10, ofLeader: STEP_S / LEADER_S };
  const eventsAnHour = Math.max(1, 2 * nodes);
  const lease = stored('leases', 'kube-node-lease', 'node-$N');
  return [
    { ...lease, objects: nodes, writes: nodes * steps.ofLease },
    {
      ...stored('leases', 'kube-system', 'leader-$N'),
      ...{ objects: LEADERS, writes: LEADERS * steps.ofLeader },
    },
    { ...stored('nodes', '', 'node-$N', nodeParts()), objects: nodes, writes: nodes },
    {
      ...stored('pods', 'default', 'web-$N', { status: podStatus() }),
      ...{ objects: nodes * PODS_OF_A_NODE, writes: Math.ceil(nodes / 2) },
    },
    {
      ...stored('events', 'default', 'web-$N.17a0'),
      ...{ objects: eventsAnHour, writes: Math.ceil(eventsAnHour / 12), passes: true },
    },
  ];
}

/** With the images that a kubelet lists, which are most of a node. */
const nodeParts = (): object => ({
  status: {
    ...nodeStatus(),
    images: Array.from({ length: IMAGES }, (_, n) => ({
      names: [`registry.example.com/shop/service-${n}@sha256:${'0a1b2c3d'.repeat(8)}`],
      sizeBytes: 123_456_789,
    })),
  },
});

/** As the server stores what a client sends. */
function stored(kind: KindName, namespace: string, name: string, more: object = {}) {
  const manifest = KINDS[kind].manifest(namespace, name) as ManagedObject;
  const whole = managed({
    ...manifest,
    metadata: { ...manifest.metadata, uid: '$U', creationTimestamp: '2026-01-01T00:00:00Z' },
    ...more,
  });
  return { kind, namespace, name, json: JSON.stringify(whole) };
}
