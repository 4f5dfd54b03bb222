import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KmsPlugin } from '../../kit/kms.ts';
import type { Bench, Figures, Group, Stage } from '../bench.ts';
import { ask } from '../environment/ask.ts';
import { type Environment, openEnvironment } from '../environment/environment.ts';
import { connectionsFor, costOf, failureOf, runMeasured } from '../measure-requests.ts';

/** What encryption at rest costs a Secret's create: its forms by turns on one server, which reloads its file, beside none. */
export const encryption: Group = { server: 'own', scenarios: [{ name: 'encryption/secrets', run }] };

const FORMS = ['identity', 'aescbc', 'aesgcm', 'secretbox', 'kms'] as const;
type Form = (typeof FORMS)[number];

const ROUNDS = 6;
const CLIENTS = 64;
const PATIENCE_MS = 30_000;

async function run(stage: Stage): Promise<Figures | readonly Figures[]> {
  if (stage.settings.kubeconfig !== undefined)
    return { status: 'not supported', note: 'encryption can be set for a server of our own only' };
  const folder = mkdtempSync(join(tmpdir(), 'bench-encryption-'));
  await using _plugin = await KmsPlugin.start(join(folder, 'kms.sock'), 'first');
  try {
    const file = new ProviderFile(folder);
    // Not the first of the turns, each of which is a change.
    file.write('kms');
    const flags = [
      `--encryption-provider-config=${file.path}`,
      '--encryption-provider-config-automatic-reload=true',
    ];
    const settings = { ...stage.settings, serverFlags: [...stage.settings.serverFlags, ...flags] };
    await using environment = await openEnvironment(settings);
    return await measureByTurns({ ...stage, environment }, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first round warms up and does not count. */
async function measureByTurns(bench: Bench, file: ProviderFile): Promise<readonly Figures[]> {
  const sums = new Map<Form, { count: number; seconds: number; server: number; database: number }>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const form of FORMS) {
      await reload(bench.environment, () => file.write(form));
      const { result, usage } = await runMeasured(bench, toJob(bench));
      const [plan] = result.plans;
      const failed = plan === undefined ? undefined : failureOf(plan);
      if (failed !== undefined) return [failed];
      if (round === 0 || plan === undefined) continue;
      const sum = sums.get(form) ?? { count: 0, seconds: 0, server: 0, database: 0 };
      sum.count += plan.count;
      sum.seconds += result.seconds;
      sum.server += usage.serverCpu;
      sum.database += usage.databaseCpu;
      sums.set(form, sum);
    }
  }
  const plain = sums.get('identity');
  return [...sums].map(([form, { count, seconds, server, database }]) => ({
    scenario: `encryption/secrets/${form}`,
    count,
    rate: count / seconds,
    ...costOf({ seconds, serverCpu: server, databaseCpu: database, peakBytes: Number.NaN }, count),
    facts:
      plain === undefined
        ? {}
        : {
            'times plain cpu': server / count / (plain.server / plain.count),
            'times plain time': seconds / count / (plain.seconds / plain.count),
          },
  }));
}

const toJob = ({ environment, scale }: Bench) => ({
  target: environment.target,
  protocol: 'h2' as const,
  connections: connectionsFor(CLIENTS),
  plans: [
    {
      name: 'create',
      method: 'POST',
      path: `/api/v1/namespaces/${environment.namespace}/secrets`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `new-${Date.now().toString(36)}-$S`, labels: { app: 'web' } },
        data: { token: Buffer.alloc(750, 'x').toString('base64') },
      }),
      pace: { clients: CLIENTS },
    },
  ],
  durationMs: scale(2000, 400),
});

class ProviderFile {
  readonly path: string;
  readonly #folder: string;
  readonly #keys = [{ name: 'one', secret: randomBytes(32).toString('base64') }];

  constructor(folder: string) {
    this.#folder = folder;
    this.path = join(folder, 'encryption.json');
  }

  /** As operators replace files: whole. */
  write(first: Form): void {
    const of = (form: Form): object => {
      if (form === 'identity') return { identity: {} };
      const endpoint = `unix://${join(this.#folder, 'kms.sock')}`;
      return form === 'kms'
        ? { kms: { apiVersion: 'v2', name: 'vault', endpoint } }
        : { [form]: { keys: this.#keys } };
    };
    const providers = [first, ...FORMS.filter((form) => form !== first)].map(of);
    const config = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['secrets'], providers }],
    };
    writeFileSync(`${this.path}.new`, JSON.stringify(config));
    renameSync(`${this.path}.new`, this.path);
  }
}

/** Resolves when what was written is in effect. */
async function reload({ target }: Environment, write: () => void): Promise<void> {
  const before = await reloads(target);
  write();
  const until = performance.now() + PATIENCE_MS;
  while ((await reloads(target)) === before) {
    if (performance.now() > until) throw new Error('the server did not reload its encryption');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function reloads(target: Environment['target']): Promise<number> {
  const { body } = await ask(target, { path: '/metrics' });
  return Number(/automatic_reloads_total\{status="success",[^}]*\} (\d+)/.exec(body.toString())?.[1] ?? 0);
}
