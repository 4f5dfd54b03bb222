import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../../src/cli/embedded/embedded-postgres.ts';
import { DEFAULT_WINDOW, parseHistoryWindow } from '../../../src/options/history-window.ts';
import { openPostgres } from '../../../src/storage/postgres/postgres.ts';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import { KINDS, type KindName, nodeStatus, podSpec, podStatus } from '../manifests.ts';

/**
 * `node test/bench/history/nodes.ts 10 100 1000`: what history takes on disk for so many quiet nodes. Writes what they write in an hour
 * (the database takes the times of a clock that runs faster), and prints what doctor predicts from it.
 *
 * A node renews its lease each 10 s, reports its status each 5 min, and has 20 pods, each of which is replaced once a day: 6 writes and
 * 5 events.
 */
const HOUR_S = 3600;
const LEASE_S = 10;
const STATUS_S = 300;
const PODS = 20;
const DAY_S = 86_400;
const PHASES = 6;
const EVENTS = 5;

interface Step {
  readonly kind: KindName;
  readonly name: string;
  readonly verb: 'put' | 'delete';
}

/** What happens in one second of the hour, over all nodes, evenly. */
function* stepsAt(second: number, nodes: number): Generator<Step> {
  for (let node = 0; node < nodes; node += 1) {
    if ((second + node) % LEASE_S === 0) yield { kind: 'leases', name: `node-${node}`, verb: 'put' };
    if ((second + node * 7) % STATUS_S === 0) yield { kind: 'nodes', name: `node-${node}`, verb: 'put' };
  }
  const replacedBy = (at: number): number => Math.floor((at * nodes * PODS) / DAY_S);
  for (let pod = replacedBy(second); pod < replacedBy(second + 1); pod += 1) {
    const name = `web-6d4b75cb6d-${pod}`;
    for (let phase = 1; phase < PHASES; phase += 1) yield { kind: 'pods', name, verb: 'put' };
    yield { kind: 'pods', name, verb: 'delete' };
    for (let event = 0; event < EVENTS; event += 1)
      yield { kind: 'events', name: `${name}.${event}`, verb: 'put' };
  }
}

const MANAGED_FIELDS = {
  manager: 'kubelet',
  operation: 'Update',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
};

/** As it is stored, with the fields that a server adds. */
function stored({ kind, name }: Step, turn: number): Buffer {
  const {
    apiVersion,
    kind: called,
    metadata,
    ...rest
  } = KINDS[kind].manifest('default', name) as {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: object;
  };
  const fields = kind === 'pods' || kind === 'nodes' ? 40 : 8;
  const fieldsV1 = Object.fromEntries(Array.from({ length: fields }, (_, n) => [`f:field-number-${n}`, {}]));
  const text = JSON.stringify({
    ...{ kind: called, apiVersion },
    metadata: {
      ...metadata,
      uid: randomUUID(),
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [{ ...MANAGED_FIELDS, apiVersion, fieldsV1 }],
    },
    ...rest,
    ...(kind === 'pods' ? { spec: podSpec(), status: podStatus() } : {}),
    ...(kind === 'nodes' ? { status: { ...nodeStatus(), images: IMAGES } } : {}),
  });
  return Buffer.from(text.replaceAll('$S', String(turn)).replaceAll('$T', new Date(turn).toISOString()));
}

const IMAGES = Array.from({ length: 20 }, (_, n) => ({
  names: [`registry.example.com/shop/service-${n}@sha256:${randomUUID().replaceAll('-', '').repeat(2)}`],
  sizeBytes: 100_000_000 + n,
}));

async function measure(nodes: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-nodes-'));
  chmodSync(folder, 0o755);
  const settings = ['fsync=off', 'max_wal_size=1GB'];
  const postgres = new EmbeddedPostgres({ folder, port: 0, settings, onProgress: () => {} });
  await postgres.start();
  const beganMs = Date.now() - HOUR_S * 1000;
  let second = 0;
  try {
    const connection = { urls: [postgres.url], poolSize: 2 };
    await setUpDatabase(connection, async (database) => {
      await database.migrate();
      const window = parseHistoryWindow(DEFAULT_WINDOW, '--history-window');
      await database.keepHistoryWindow({ ...window, isGiven: true });
    });
    // A row has the time of the caller's clock, and a minute.
    const now = (): number => beganMs + (second - 60) * 1000;
    const log = openPostgres({ ...connection, compactionIntervalMs: 0, onTrouble: () => {}, now });
    const live = new Map<string, Revision>();
    const commit = async (step: Step): Promise<void> => {
      const { kind, name, verb } = step;
      const key = {
        group: KINDS[kind].group,
        resource: kind,
        namespace: kind === 'nodes' ? '' : 'default',
        name,
      };
      const expected = live.get(`${kind}/${name}`);
      const json = stored(step, now());
      const by = kind === 'events' ? 'scheduler' : 'kubelet';
      const attribution = {
        username: `system:node:${name}`,
        userAgent: `${by}/v1.31.0 (linux/amd64) kubernetes/9edcffc`,
        sourceAddress: '10.0.0.1',
        requestId: randomUUID(),
        fieldManager: by,
      };
      const what = verb === 'delete' ? 'delete' : expected === undefined ? 'create' : 'update';
      const write = { verb: what, key, uid: randomUUID(), expected, json, attribution } as const;
      const revision = await log.committer.commit(write);
      if (verb === 'delete') live.delete(`${kind}/${name}`);
      else live.set(`${kind}/${name}`, revision);
    };
    for (; second < HOUR_S; second += 1) {
      // Writes of one object come after each other.
      const lines = Map.groupBy(stepsAt(second, nodes), ({ name }) => name);
      await Promise.all(
        [...lines.values()].map(async (steps) => {
          for (const step of steps) await commit(step);
        }),
      );
    }
    const lines = await setUpDatabase(connection, async (database) => {
      const findings = await database.examine();
      return findings.filter(({ kind }) => kind === 'history').map(({ text }) => text);
    });
    await log.close();
    return lines;
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const word of process.argv.slice(2)) {
  const lines = await measure(Number(word));
  process.stdout.write(`${word} nodes:\n${lines.map((line) => `  ${line}\n`).join('')}`);
}
