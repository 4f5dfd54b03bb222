import { toQualifiedResource } from '../api/names.ts';
import type { JsonObject } from '../api/object-meta.ts';
import { isObject } from '../object/json-values.ts';
import { bool, type FlagSet, text, UsageError } from '../options/flag.ts';
import { parseOptions } from '../options/options.ts';
import { kubeconfigOf } from './database.ts';
import { stopSignal } from './stop-signal.ts';
import { ApiClient } from './transfer/api-client.ts';
import { listPages } from './transfer/api-pages.ts';
import { type ApiResource, discover } from './transfer/api-resources.ts';
import { toDocument } from './transfer/documents.ts';
import { exportHistory } from './transfer/history-export.ts';
import { isMoment } from './transfer/is-moment.ts';
import { takeFlags } from './transfer/own-flags.ts';
import { findOwnLogs, type OwnLogs, toMoment } from './transfer/own-logs.ts';
import { Progress } from './transfer/progress.ts';
import { openYamlOutput, type YamlOutput } from './transfer/yaml-output.ts';

export const exportFlags = {
  kubeconfig: text('kubeconfig', {
    meaning: 'the cluster to export; by default the admin kubeconfig of the data folder',
  }),
  to: text('to', {
    meaning: 'a file whose name ends with .yaml, or a folder; by default the standard output',
  }),
  namespace: text('namespace', { meaning: 'one namespace and what is in it' }),
  asOf: text('as-of', { meaning: 'a moment or a revision; by default the present' }),
  history: bool('history', { meaning: 'write the revisions that are kept as well' }),
} satisfies FlagSet;

/**
 * `export [--to=] [--namespace=] [--as-of=] [--history]`: writes the objects of a cluster as YAML, which kubectl apply and `import`
 * take.
 * @throws Error with a message of one line
 */
export async function exportCluster(args: readonly string[]): Promise<void> {
  const { values, others } = takeFlags(args, exportFlags);
  const { storage } = parseOptions(others);
  const { to, asOf, namespace, history } = values;
  if (asOf !== '' && !isMoment(asOf))
    throw new UsageError(
      `${exportFlags.asOf.shown}: ${JSON.stringify(asOf)} is neither a revision nor a moment such as 2026-01-31T12:00:00Z`,
    );
  if (history && to === '')
    throw new UsageError(
      `${exportFlags.history.shown} needs ${exportFlags.to.shown}: revisions go to a file of their own`,
    );
  const kubeconfig = values.kubeconfig || kubeconfigOf(storage, exportFlags.kubeconfig.shown);
  const progress = new Progress();
  const signal = stopSignal();
  const client = new ApiClient({ kubeconfig, signal, say: (line) => progress.say(line) });
  try {
    const hasHistory = (await groupsOf(client)).has('history.cluster.io');
    if ((asOf !== '' || history) && !hasHistory)
      throw new Error(
        `${client.url} keeps no history: leave ${exportFlags.asOf.shown} and ${exportFlags.history.shown} out`,
      );
    const output = openYamlOutput(to, exportFlags.to.shown);
    const { resources, leftOut } = await discover(client);
    for (const line of leftOut) progress.say(`left out: ${line}`);
    const own = asOf !== '' || history ? await findOwnLogs(client, resources) : NO_OWN_LOGS;
    const momentOfOwn = own.size > 0 ? await toMoment(client, asOf) : asOf;
    const counted = await exportObjects(
      { client, output, progress },
      {
        ...{ resources, namespace, asOf },
        asOfFor: (resource) => (own.has(toQualifiedResource(resource)) ? momentOfOwn : asOf),
      },
    );
    progress.end();
    progress.say(`exported ${counted} objects${to === '' ? '' : ` to ${to}`}`);
    if (!history || output.historyFile === undefined) return;
    const revisions = await exportHistory(client, output.historyFile, {
      ...{ namespace, asOf, own, progress },
    });
    progress.end();
    progress.say(`exported ${revisions} revisions to ${output.historyFile}`);
  } finally {
    progress.end();
    client.close();
  }
}

interface ExportParts {
  readonly client: ApiClient;
  readonly output: YamlOutput;
  readonly progress: Progress;
}

interface Selection {
  readonly resources: readonly ApiResource[];
  readonly namespace: string;
  readonly asOf: string;
  /** The same for the log of a resource. */
  asOfFor(resource: ApiResource): string;
}

const NO_OWN_LOGS: OwnLogs = new Set();

async function exportObjects(
  { client, output, progress }: ExportParts,
  selection: Selection,
): Promise<number> {
  const { resources, namespace } = selection;
  for (const resource of resources.filter((one) => namespace === '' || isInNamespace(one))) {
    await output.begin(resource);
    let isFirst = true;
    const wish = { namespace, asOf: selection.asOfFor(resource) };
    for await (const { objects, remaining } of listPages(client, resource, wish)) {
      progress.begin(resource.resource, isFirst ? objects.length + remaining : 0);
      isFirst = false;
      const wanted = objects.filter(
        (object) => resource.namespaced || namespace === '' || nameOf(object) === namespace,
      );
      await output.write(wanted.map(toDocument).join(''));
      progress.add(wanted.length);
    }
  }
  await output.end();
  if (progress.done === 0) {
    const where = namespace === '' ? '' : ` in a namespace ${JSON.stringify(namespace)}`;
    throw new Error(
      selection.asOf === '' ? `there is nothing${where}` : `there was nothing at ${selection.asOf}${where}`,
    );
  }
  return progress.done;
}

/** The namespace itself is exported too. */
const isInNamespace = ({ namespaced, group, resource }: ApiResource): boolean =>
  namespaced || (group === '' && resource === 'namespaces');

const nameOf = ({ metadata }: JsonObject): unknown => (isObject(metadata) ? metadata.name : undefined);

async function groupsOf(client: ApiClient): Promise<ReadonlySet<string>> {
  const { groups } = await client.get('/apis');
  return new Set(Array.isArray(groups) ? groups.filter(isObject).map(({ name }) => String(name)) : []);
}
