import { KINDS } from '../manifests.ts';
import { answerCalls } from '../process/calls.ts';
import { Component, Doings, type PodEvent, type Sent } from './component.ts';
import { type ManagerCalls, type ManagerJob, PODS_A_DEPLOYMENT } from './jobs.ts';
import {
  DEPLOYMENTS,
  deploymentName,
  endpointSlice,
  podTemplate,
  REPLICA_SETS,
  replicaSet,
  SLICES,
} from './manifests.ts';

/**
 * A process in place of the controller manager and the scheduler: it rolls one deployment after the other, as fast as the rate of
 * pods allows, and acts on what its watches bring. Beside it, people and operators read.
 */

/** A quarter of a deployment's pods are new at once, as maxSurge is by default. */
const WAVE = Math.ceil(PODS_A_DEPLOYMENT / 4);
/** A pod that does not run by then is left. */
const PATIENCE_MS = 60_000;
const READ_MS = 1000;
const LIST_MS = 5000;

const doings = new Doings();
let manager: Manager | undefined;

answerCalls<ManagerCalls>({
  open: async (job) => {
    const [controllers, scheduler, people] = await Promise.all(
      Array.from({ length: 3 }, () => Component.connect(job.target, doings)),
    );
    if (controllers === undefined || scheduler === undefined || people === undefined) return undefined;
    manager = new Manager(job, { controllers, scheduler, people });
    await manager.watch();
    return undefined;
  },
  begin: async () => {
    manager?.begin();
    doings.take();
    return undefined;
  },
  take: async () => doings.take(),
});

interface Components {
  readonly controllers: Component;
  readonly scheduler: Component;
  readonly people: Component;
}

class Manager {
  readonly #job: ManagerJob;
  readonly #components: Components;
  /** What waits for a pod to run, by name. */
  readonly #waiting = new Map<string, () => void>();
  #nextNode = 0;

  constructor(job: ManagerJob, components: Components) {
    this.#job = job;
    this.#components = components;
  }

  async watch(): Promise<void> {
    const { controllers, scheduler } = this.#components;
    await controllers.watch('/api/v1/pods?watch=true', (line) => this.#see(JSON.parse(line)));
    for (const path of WATCHED) await controllers.watch(`${path}?watch=true`);
    for (const path of ['/api/v1/pods', '/api/v1/nodes', '/api/v1/services'])
      await scheduler.watch(`${path}?watch=true`);
  }

  begin(): void {
    void this.#rollAll();
    void this.#repeat(READ_MS, () => this.#readPod());
    void this.#repeat(LIST_MS, () => this.#list());
  }

  #see({ object }: PodEvent): void {
    const { name } = object.metadata;
    if (object.status?.phase !== 'Running') return;
    this.#waiting.get(name)?.();
    this.#waiting.delete(name);
  }

  /** As many deployments at once as the rate of pods needs, where a wave takes a second or two. */
  async #rollAll(): Promise<void> {
    const { nodes, podsPerSecond } = this.#job;
    const lanes = Math.max(1, Math.ceil((podsPerSecond * 2) / WAVE));
    const everyMs = ((WAVE * lanes) / podsPerSecond) * 1000;
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        await pause((everyMs * lane) / lanes);
        for (let turn = 0; ; turn += 1) {
          const number = (lane + turn * lanes) % nodes;
          await this.#roll(number, 1 + Math.floor((lane + turn * lanes) / nodes), everyMs);
        }
      }),
    );
  }

  async #roll(number: number, generation: number, everyMs: number): Promise<void> {
    const { namespace } = this.#job;
    const name = deploymentName(number);
    await this.#send('PATCH', 'deployments', `${DEPLOYMENTS(namespace)}/${name}`, {
      spec: { template: { metadata: { annotations: { 'bench.example.com/turn': String(Date.now()) } } } },
    });
    await this.#send('POST', 'replicasets', REPLICA_SETS(namespace), replicaSet(namespace, name, generation));
    for (let from = 0; from < PODS_A_DEPLOYMENT; from += WAVE) {
      const since = performance.now();
      const size = Math.min(WAVE, PODS_A_DEPLOYMENT - from);
      const places = Array.from({ length: size }, (_, at) => from + at);
      await Promise.all(places.map((place) => this.#start(name, `${name}-${generation}-${place}`)));
      await this.#note(name, generation, from + size);
      await Promise.all(places.map((place) => this.#end(oldName(number, generation, place))));
      await this.#note(name, generation, from + size);
      await pause(everyMs - (performance.now() - since));
    }
    await this.#send('DELETE', 'replicasets', `${REPLICA_SETS(namespace)}/${name}-${generation - 1}`);
  }

  /** Creates a pod, binds it, and waits until it runs. */
  async #start(deployment: string, name: string): Promise<void> {
    const { namespace, nodes } = this.#job;
    const pods = KINDS.pods.collection(namespace);
    const { metadata, ...template } = { metadata: {}, ...podTemplate(namespace, deployment) };
    const since = performance.now();
    const running = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), PATIENCE_MS);
      this.#waiting.set(name, () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name }, ...template };
    const made = await this.#send(
      'POST',
      'pods',
      pods,
      JSON.parse(JSON.stringify(object).replaceAll('$S', '0')),
    );
    if (!made) return;
    this.#nextNode = (this.#nextNode + 1) % nodes;
    await this.#sendBy(this.#components.scheduler, {
      asked: { verb: 'POST', resource: 'pods/binding', scope: 'resource' },
      path: `${pods}/${name}/binding`,
      body: {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name },
        target: { apiVersion: 'v1', kind: 'Node', name: `node-${this.#nextNode}` },
      },
    });
    if (await running) doings.startedMs.push(performance.now() - since);
  }

  async #end(pod: string): Promise<void> {
    await this.#send('DELETE', 'pods', `${KINDS.pods.collection(this.#job.namespace)}/${pod}`);
  }

  /** What controllers write when pods of a deployment have changed. */
  async #note(name: string, generation: number, ready: number): Promise<void> {
    const { namespace } = this.#job;
    const status = { replicas: PODS_A_DEPLOYMENT, readyReplicas: ready, availableReplicas: ready };
    const slice = endpointSlice(namespace, name, ready);
    await this.#send('PUT', 'endpointslices', `${SLICES(namespace)}/${name}`, slice);
    const set = `${REPLICA_SETS(namespace)}/${name}-${generation}/status`;
    await this.#send('PATCH', 'replicasets/status', set, { status });
    await this.#send('PATCH', 'deployments/status', `${DEPLOYMENTS(namespace)}/${name}/status`, {
      status: { ...status, updatedReplicas: ready },
    });
  }

  async #readPod(): Promise<void> {
    const { namespace, nodes } = this.#job;
    const number = Math.floor(Math.random() * nodes * PODS_A_DEPLOYMENT);
    await this.#sendBy(this.#components.people, {
      asked: { verb: 'GET', resource: 'configmaps', scope: 'resource' },
      path: `${KINDS.configmaps.collection(namespace)}/web-config?number=${number}`,
    });
  }

  /** A page for a person, a deployment's pods, and all nodes. */
  async #list(): Promise<void> {
    const { namespace, nodes } = this.#job;
    const pods = KINDS.pods.collection(namespace);
    const name = deploymentName(Math.floor(Math.random() * nodes));
    const list = (resource: string, scope: 'namespace' | 'cluster', path: string): Promise<unknown> =>
      this.#sendBy(this.#components.people, { asked: { verb: 'LIST', resource, scope }, path });
    await list('pods', 'namespace', `${pods}?labelSelector=app%3D${name}`);
    await list('pods', 'namespace', `${pods}?limit=500`);
    await list('pods', 'cluster', '/api/v1/pods?resourceVersion=0');
    await list('nodes', 'cluster', '/api/v1/nodes');
  }

  #send(verb: Sent['asked']['verb'], resource: string, path: string, body?: object): Promise<boolean> {
    return this.#sendBy(this.#components.controllers, {
      asked: { verb, resource, scope: 'resource' },
      path,
      ...(body === undefined ? {} : { body }),
      ...(verb === 'PATCH' ? { type: 'application/merge-patch+json' } : {}),
    });
  }

  async #sendBy(component: Component, sent: Sent): Promise<boolean> {
    return (await component.send(sent)) !== undefined;
  }

  async #repeat(everyMs: number, act: () => Promise<void>): Promise<void> {
    for (;;) {
      await act();
      await pause(everyMs);
    }
  }
}

const WATCHED = [
  '/api/v1/nodes',
  '/api/v1/services',
  '/apis/apps/v1/deployments',
  '/apis/apps/v1/replicasets',
  '/apis/discovery.k8s.io/v1/endpointslices',
  '/apis/coordination.k8s.io/v1/leases',
];

/** Pods that were there before are numbered through. */
const oldName = (number: number, generation: number, place: number): string =>
  generation === 1
    ? `p-${number * PODS_A_DEPLOYMENT + place}`
    : `${deploymentName(number)}-${generation - 1}-${place}`;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
