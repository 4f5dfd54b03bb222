import { Agent } from 'node:https';
import { blocksOf, HISTORY } from '../../kit/pages.ts';
import type { Figures, KeptBench, Scenario } from '../bench.ts';
import { ask } from '../environment/ask.ts';
import type { KeptServer } from '../environment/kept-server.ts';
import { KINDS } from '../manifests.ts';
import { momentOf, timed } from '../scale/questions.ts';

/** A namespace of the log, of which all are alike. */
const NAMESPACE = 'ns-7';
const DEPLOYMENT = 'written-often';
const REVISIONS = 1000;
/** How much of the log is older than the moment that is asked about. */
const SHARE = 0.9;

/**
 * The questions of the page of history as they stand there, of a namespace of the log and of a Deployment that was written a thousand times.
 * What is asked of the whole cluster grows with the log: at 100 million revisions it is not waited for.
 */
export const HISTORY_IN_SQL: readonly Scenario<KeptBench>[] = questionsOf().map(({ name, text }) => ({
  name: `scale/sql/${name}`,
  run: (bench) => run(bench, text),
}));

interface Asked {
  /** What is read: `blame_of`, and `blame_of-2` where it is read again. */
  readonly name: string;
  readonly text: string;
}

/** @throws Error where the page has none */
function questionsOf(): Asked[] {
  const [first] = blocksOf(HISTORY).filter(({ language }) => language === 'sql');
  if (first === undefined) throw new Error(`${HISTORY} asks nothing in SQL`);
  const seen = new Map<string, number>();
  return first.text
    .split(';')
    .filter((text) => text.includes('SELECT'))
    .map((text) => {
      const [, source = 'question'] = /(object_at|(?<=FROM )\w+)/.exec(text) ?? [];
      const times = (seen.get(source) ?? 0) + 1;
      seen.set(source, times);
      return { name: times === 1 ? source : `${source}-${times}`, text };
    });
}

async function run({ environment, shape }: KeptBench, text: string): Promise<Figures> {
  const isOfObject = text.includes("'default', 'web'");
  if (isOfObject) await writeOften(environment);
  return timed(
    environment.own.databaseUrl,
    text
      .replaceAll("'default', 'web'", `'${environment.namespace}', '${DEPLOYMENT}'`)
      .replaceAll("'shop'", `'${NAMESPACE}'`)
      .replaceAll(/'\d{4}-\d\d-\d\d \d\d:\d\d'/g, isOfObject ? 'now()' : momentOf(shape, SHARE)),
    'rows',
  );
}

interface PodSpec {
  readonly nodeName: string;
}

/** Once: by a person and by a controller in turns, as a rollout does it. */
async function writeOften({ target, namespace }: KeptServer): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = async (method: string, path: string, body: object): Promise<number> => {
    const { status, body: answer } = await ask(
      target,
      {
        ...{ method, path: `/apis/apps/v1/namespaces/${namespace}/deployments${path}` },
        body: JSON.stringify(body),
        headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
      },
      agent,
    );
    if (status >= 400 && status !== 409) throw new Error(`${method} ${path}: ${status} ${answer}`);
    return status;
  };
  try {
    const labels = { app: 'web' };
    const { spec: ofPod } = KINDS.pods.manifest(namespace, DEPLOYMENT) as { readonly spec: PodSpec };
    const { nodeName: _, ...spec } = ofPod;
    const made = await send('POST', '', {
      metadata: { name: DEPLOYMENT, labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    if (made === 409) return;
    for (let time = 1; time < REVISIONS; time += 1) {
      const replicas = 1 + (time % 20);
      if (time % 2 === 0) await send('PATCH', `/${DEPLOYMENT}`, { spec: { replicas } });
      else
        await send('PATCH', `/${DEPLOYMENT}/status`, {
          status: { observedGeneration: time, replicas, readyReplicas: time % 3 },
        });
    }
  } finally {
    agent.destroy();
  }
}
