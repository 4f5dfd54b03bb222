import { KINDS, nodeStatus, podStatus } from '../manifests.ts';
import { answerCalls } from '../process/calls.ts';
import { Component, Doings, type PodEvent, type Sent } from './component.ts';
import type { NodesCalls, NodesJob } from './jobs.ts';

/** A process of hollow nodes: what kubelets and kube-proxies ask of the API, without anything that runs. */

const LEASE_MS = 10_000;
const STATUS_MS = 300_000;
/** A container takes that long to start, and to end. */
const CONTAINER_MS = 500;
const LEASES = 'kube-node-lease';
/** Handshakes at once. */
const CONNECTING = 25;

const doings = new Doings();
let nodes: HollowNode[] = [];

answerCalls<NodesCalls>({
  open: async (job) => {
    nodes = Array.from({ length: job.count }, (_, at) => new HollowNode(job, `node-${job.first + at}`));
    const waiting = [...nodes];
    const connect = async (): Promise<void> => {
      for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) await node.connect();
    };
    await Promise.all(Array.from({ length: CONNECTING }, connect));
    return undefined;
  },
  begin: async () => {
    for (const node of nodes) node.begin();
    doings.take();
    return undefined;
  },
  take: async () => doings.take(),
});

class HollowNode {
  readonly #job: NodesJob;
  readonly #name: string;
  #kubelet: Component | undefined;
  /** Pods whose start or end is under way, by uid. */
  readonly #starting = new Set<string>();
  readonly #ending = new Set<string>();

  constructor(job: NodesJob, name: string) {
    this.#job = job;
    this.#name = name;
  }

  /** The watches of a kubelet, and those of a kube-proxy over a connection of its own. */
  async connect(): Promise<void> {
    const { target, namespace } = this.#job;
    const kubelet = await Component.connect(target, doings, {
      name: `system:node:${this.#name}`,
      group: 'system:nodes',
    });
    const proxy = await Component.connect(target, doings, {
      name: 'system:kube-proxy',
      group: 'system:authenticated',
    });
    this.#kubelet = kubelet;
    const ownNode = `/api/v1/nodes?fieldSelector=metadata.name%3D${this.#name}`;
    const ownPods = `/api/v1/pods?fieldSelector=spec.nodeName%3D${this.#name}`;
    const config = `${KINDS.configmaps.collection(namespace)}?fieldSelector=metadata.name%3Dweb-config`;
    await kubelet.watch(toWatch(ownPods), (line) => this.#see(JSON.parse(line)));
    for (const path of [ownNode, config, '/api/v1/services?', '/apis/node.k8s.io/v1/runtimeclasses?'])
      await kubelet.watch(toWatch(path));
    for (const path of [ownNode, '/api/v1/services?', '/apis/discovery.k8s.io/v1/endpointslices?'])
      await proxy.watch(toWatch(path));
  }

  /** Leases and status at their rates, begun at different moments. */
  begin(): void {
    void this.#repeat(LEASE_MS, () => this.#renew());
    void this.#repeat(STATUS_MS, () => this.#report());
  }

  async #repeat(everyMs: number, act: () => Promise<void>): Promise<void> {
    await pause(Math.random() * everyMs);
    for (;;) {
      const since = performance.now();
      await act();
      await pause(everyMs - (performance.now() - since));
    }
  }

  /** A kubelet replaces the lease that it has had from the answer before. */
  #lease: object | undefined;

  async #renew(): Promise<void> {
    const path = `${KINDS.leases.collection(LEASES)}/${this.#name}`;
    if (this.#lease === undefined) {
      const read = await this.#send({ asked: { verb: 'GET', resource: 'leases', scope: 'resource' }, path });
      this.#lease = read;
    }
    if (this.#lease === undefined) return;
    const { spec } = { spec: {}, ...this.#lease };
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    this.#lease = await this.#send({
      asked: { verb: 'PUT', resource: 'leases', scope: 'resource' },
      path,
      body: { ...this.#lease, spec: { ...spec, renewTime } },
    });
  }

  async #report(): Promise<void> {
    await this.#send({
      asked: { verb: 'PATCH', resource: 'nodes/status', scope: 'resource' },
      path: `/api/v1/nodes/${this.#name}/status`,
      body: { status: turned(nodeStatus()) },
      type: STRATEGIC,
    });
  }

  async #see({ type, object }: PodEvent): Promise<void> {
    const { uid, name, deletionTimestamp } = object.metadata;
    if (type === 'DELETED') {
      this.#starting.delete(uid);
      this.#ending.delete(uid);
    } else if (deletionTimestamp !== undefined && !this.#ending.has(uid)) {
      this.#ending.add(uid);
      await pause(CONTAINER_MS);
      await this.#end(name);
    } else if (object.status?.phase === 'Pending' && !this.#starting.has(uid)) {
      this.#starting.add(uid);
      await this.#patchStatus(name, { message: 'ContainerCreating' });
      await pause(CONTAINER_MS);
      await this.#patchStatus(name, podStatus());
      for (const reason of ['Pulled', 'Created', 'Started']) await this.#tell(name, reason);
    }
  }

  async #patchStatus(pod: string, status: object): Promise<void> {
    await this.#send({
      asked: { verb: 'PATCH', resource: 'pods/status', scope: 'resource' },
      path: `${KINDS.pods.collection(this.#job.namespace)}/${pod}/status`,
      body: { status: turned(status) },
      type: STRATEGIC,
    });
  }

  async #end(pod: string): Promise<void> {
    await this.#send({
      asked: { verb: 'DELETE', resource: 'pods', scope: 'resource' },
      path: `${KINDS.pods.collection(this.#job.namespace)}/${pod}?gracePeriodSeconds=0`,
    });
  }

  async #tell(pod: string, reason: string): Promise<void> {
    const { namespace } = this.#job;
    await this.#send({
      asked: { verb: 'POST', resource: 'events', scope: 'resource' },
      path: KINDS.events.collection(namespace),
      body: eventOf(namespace, pod, reason),
    });
  }

  async #send(sent: Sent): Promise<object | undefined> {
    const reply = await this.#kubelet?.send(sent);
    if (reply === undefined || sent.asked.resource !== 'leases') return undefined;
    return JSON.parse(reply.text);
  }
}

const STRATEGIC = 'application/strategic-merge-patch+json';

let turns = 0;

/** Each report differs from the one before. */
function turned(status: object): object {
  turns += 1;
  return JSON.parse(JSON.stringify(status).replaceAll('$S', String(turns)));
}

function eventOf(namespace: string, pod: string, reason: string): object {
  turns += 1;
  const { apiVersion, kind } = { apiVersion: 'v1', kind: 'Pod' };
  const event = KINDS.events.manifest(namespace, `${pod}.${process.pid}.${turns}`);
  return { ...event, reason, involvedObject: { apiVersion, kind, namespace, name: pod } };
}

const toWatch = (path: string): string =>
  `${path}${path.endsWith('?') ? '' : '&'}watch=true&timeoutSeconds=3600`;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
