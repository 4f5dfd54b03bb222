import { setTimeout as pause } from 'node:timers/promises';
import { type Access, type Answer, Api, type KubeObject } from './api-requests.ts';
import { collectionOf, findResources, pathOf, type Resource } from './reset-resources.ts';

/** An object where it was found. */
interface Found {
  readonly resource: Resource;
  readonly object: KubeObject;
}

type Definition = KubeObject & {
  readonly spec: { readonly conversion?: { readonly strategy?: string } };
};

/** By path. `unread`: why some resources could not be listed. */
interface State {
  readonly objects: ReadonlyMap<string, Found>;
  readonly unread: Refusal | undefined;
}

/** Requests that are under way at a time: their writes share commits. */
const CONCURRENCY = 48;
const DEADLINE_MS = 30_000;
const PAUSE_MS = 5;

/** Renewed all the time by those who hold them: a lease that was there stays as it is. */
const RENEWED = 'leases.coordination.k8s.io';

/** These may refuse or change the writes of a reset, and are gone before it goes on. */
const GUARDS: readonly string[] = [
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'apiservices.apiregistration.k8s.io',
  'resourcequotas',
  'limitranges',
];
const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';
/** What is in these goes before they do, so that they end at once. */
const HOLDERS: readonly string[] = ['namespaces', DEFINITIONS];

const rankOf = ({ resource: { qualified } }: Found): number =>
  GUARDS.includes(qualified) ? 0 : HOLDERS.includes(qualified) ? 2 : 1;

/**
 * Remembers all objects of a cluster, and puts them back as they were, by ordinary writes: watchers see what is deleted, changed
 * and created, and no number of a revision is given out twice.
 */
export class Baseline {
  readonly #access: Access;
  readonly #state: Map<string, Found>;

  static async take(access: Access): Promise<Baseline> {
    using api = new Api(access);
    const { objects, unread } = await readState(api);
    if (unread !== undefined) throw unread;
    return new Baseline(access, objects);
  }

  private constructor(access: Access, objects: State['objects']) {
    this.#access = access;
    this.#state = new Map(objects);
  }

  /** @throws Error when objects do not come back, or others do not go */
  async restore(): Promise<void> {
    using api = new Api(this.#access);
    const deadline = Date.now() + DEADLINE_MS;
    // A server follows webhooks and policies by a watch: one that has gone may still refuse for a moment.
    let refusal: Refusal | undefined;
    const unlessRefused = async (act: () => Promise<void>): Promise<void> => {
      try {
        await act();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusal = error;
      }
    };
    for (;;) {
      const { objects: now, unread } = await readState(api);
      const added = [...now].filter(([path, found]) => this.#isAdded(path, found)).map(([, found]) => found);
      const changed = [...this.#state].filter(([path, found]) => isChanged(found, now.get(path)));
      if (added.length === 0 && changed.length === 0 && unread === undefined) return;
      if (Date.now() > deadline) throw refusal ?? unread ?? new Error(describeRest(added, changed));
      refusal = undefined;
      const removeOf = (rank: number): Promise<void> =>
        eachOf(
          added.filter((found) => rankOf(found) === rank),
          (found) => unlessRefused(() => remove(api, found)),
        );
      await removeOf(0);
      if (unread !== undefined) {
        await this.#endConversions(api, now);
        await pause(PAUSE_MS);
        continue;
      }
      await removeOf(1);
      await removeOf(2);
      await eachOf(changed, ([path, then]) =>
        unlessRefused(() => this.#putBack(api, path, then, now.get(path))),
      );
      await pause(PAUSE_MS);
    }
  }

  /**
   * Lets custom resources be listed whose conversion webhook went with the test. Their definitions are deleted, or put back, once
   * their objects are gone.
   */
  async #endConversions(api: Api, now: State['objects']): Promise<void> {
    for (const [path, { resource, object }] of now) {
      const then = this.#state.get(path)?.object.metadata;
      if (resource.qualified !== DEFINITIONS || then?.resourceVersion === object.metadata.resourceVersion)
        continue;
      const { spec, metadata } = object as Definition;
      if (spec.conversion?.strategy !== 'Webhook') continue;
      await api.send('PATCH', path, {
        type: 'application/merge-patch+json',
        body: { metadata: { uid: metadata.uid }, spec: { conversion: { strategy: 'None', webhook: null } } },
      });
    }
  }

  /** Another object of the name counts as added. */
  #isAdded(path: string, { object }: Found): boolean {
    return this.#state.get(path)?.object.metadata.uid !== object.metadata.uid;
  }

  async #putBack(api: Api, path: string, then: Found, now: Found | undefined): Promise<void> {
    const isSame = now?.object.metadata.uid === then.object.metadata.uid;
    const written = now !== undefined && isSame ? await replace(api, then, now) : await create(api, then);
    // A namespace that is still ending, or a conflict: the next round sees what is there.
    if (written !== undefined) this.#state.set(path, { ...then, object: written });
  }
}

/** What a test changed and what has gone differ; a lease that is there counts as it was. */
function isChanged(then: Found, now: Found | undefined): boolean {
  if (now === undefined) return true;
  if (then.resource.qualified === RENEWED) return false;
  return then.object.metadata.resourceVersion !== now.object.metadata.resourceVersion;
}

async function readState(api: Api): Promise<State> {
  const resources = await findResources(api);
  let unread: Refusal | undefined;
  const lists = await Promise.all(
    resources.map((resource) =>
      listOf(api, resource).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        unread = error;
        return [];
      }),
    ),
  );
  const objects = new Map(lists.flat().map((found) => [pathOf(found.resource, found.object), found]));
  return { objects, unread };
}

/** A definition may have gone since discovery. */
async function listOf(api: Api, resource: Resource): Promise<Found[]> {
  const { code, body } = await api.send<{ readonly items?: readonly KubeObject[] }>(
    'GET',
    `${resource.root}/${resource.name}`,
  );
  if (code !== 200 && code !== 404) throw refused(`list ${resource.qualified}`, { code, body });
  return (body.items ?? []).map((object) => ({ resource, object }));
}

/** Finalizers go first: the controllers that would remove them may have ended with the test. */
async function remove(api: Api, found: Found): Promise<void> {
  const path = pathOf(found.resource, found.object);
  const { uid, finalizers = [] } = found.object.metadata;
  if (finalizers.length > 0 && !HOLDERS.includes(found.resource.qualified))
    await api.send('PATCH', path, {
      type: 'application/merge-patch+json',
      body: { metadata: { uid, finalizers: null } },
    });
  const answer = await api.send('DELETE', path, {
    body: { gracePeriodSeconds: 0, propagationPolicy: 'Background', preconditions: { uid } },
  });
  // Gone already, on its way, or another one by now.
  if (answer.code >= 300 && ![404, 409].includes(answer.code)) throw refused(`delete ${path}`, answer);
}

/** Undefined: it cannot be made yet. */
async function create(api: Api, { resource, object }: Found): Promise<KubeObject | undefined> {
  const { resourceVersion, uid, creationTimestamp, generation, ...metadata } = object.metadata;
  const answer = await api.send<KubeObject>('POST', collectionOf(resource, object), {
    body: { ...object, metadata },
  });
  if (answer.code === 201) return withStatus(api, { resource, object }, answer.body);
  // It, or its namespace, is still ending, or a controller was faster.
  if ([403, 404, 409].includes(answer.code)) return undefined;
  throw refused(`create ${pathOf(resource, object)}`, answer);
}

async function replace(api: Api, then: Found, now: Found): Promise<KubeObject | undefined> {
  const path = pathOf(then.resource, then.object);
  const { resourceVersion } = now.object.metadata;
  const body = { ...then.object, metadata: { ...then.object.metadata, resourceVersion } };
  const answer = await api.send<KubeObject>('PUT', path, { body });
  if (answer.code === 200) return withStatus(api, then, answer.body);
  // A field that cannot be changed back: another object takes its place.
  if (answer.code === 422) await remove(api, now);
  else if (![404, 409].includes(answer.code)) throw refused(`put back ${path}`, answer);
  return undefined;
}

async function withStatus(api: Api, then: Found, written: KubeObject): Promise<KubeObject> {
  const { status } = then.object;
  if (!then.resource.hasStatus || JSON.stringify(status) === JSON.stringify(written.status)) return written;
  const path = `${pathOf(then.resource, then.object)}/status`;
  const answer = await api.send<KubeObject>('PUT', path, { body: { ...written, status } });
  return answer.code === 200 ? answer.body : written;
}

async function eachOf<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker));
}

class Refusal extends Error {}

const refused = (what: string, { code, body }: Answer<unknown>): Refusal =>
  new Refusal(`the reset could not ${what}: ${code} ${JSON.stringify(body)}`);

function describeRest(added: readonly Found[], changed: readonly (readonly [string, Found])[]): string {
  const paths = [
    ...added.map(({ resource, object }) => pathOf(resource, object)),
    ...changed.map(([path]) => path),
  ];
  const shown = paths.slice(0, 5).join(', ');
  return `the cluster does not become what it was in ${DEADLINE_MS / 1000} s: something still writes ${shown}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''}`;
}
