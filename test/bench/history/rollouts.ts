import { Agent } from 'node:https';
import { ask } from '../environment/ask.ts';
import type { Target } from '../load/jobs.ts';
import { podSpec, podStatus } from '../manifests.ts';

/** The size of a story in a namespace: users and controllers write it through the API, and histories of its objects are read. */
export interface Story {
  readonly namespace: string;
  /** How often its image was changed. */
  readonly rollouts: number;
  readonly podsOfRollout: number;
  /** Of one Deployment, beside that of the rollouts. */
  readonly revisionsOfOne: number;
}

/** The Deployment with many revisions. */
export const BUSY = 'busy';

const KUBECTL = 'kubectl/v1.31.0 (linux/amd64) kubernetes/9edcffc';
const MANAGER =
  'kube-controller-manager/v1.31.0 (linux/amd64) kubernetes/9edcffc/system:serviceaccount:kube-system:';
const SCHEDULER = 'kube-scheduler/v1.31.0 (linux/amd64) kubernetes/9edcffc/scheduler';
const KUBELET = 'kubelet/v1.31.0 (linux/amd64) kubernetes/9edcffc';

const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
const LABELS = { app: 'web', 'app.kubernetes.io/name': 'web', 'app.kubernetes.io/part-of': 'shop' };

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** Writes the story. Returns the name of a pod whose whole life it contains. */
export async function tell(target: Target, story: Story): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  try {
    const teller = new Teller(target, story.namespace, agent);
    await teller.serviceAccount();
    await teller.deployment(BUSY, 'web:1');
    await teller.change(BUSY, story.revisionsOfOne - 1);
    let pod = '';
    for (let rollout = 0; rollout < story.rollouts; rollout += 1)
      pod = await teller.rollOut(rollout, story.podsOfRollout);
    return pod;
  } finally {
    agent.destroy();
  }
}

class Teller {
  readonly #target: Target;
  readonly #namespace: string;
  readonly #agent: Agent;

  constructor(target: Target, namespace: string, agent: Agent) {
    this.#target = target;
    this.#namespace = namespace;
    this.#agent = agent;
  }

  /** A controller makes it too, sooner or later. */
  async serviceAccount(): Promise<void> {
    const path = `/api/v1/namespaces/${this.#namespace}/serviceaccounts`;
    const body = JSON.stringify({ metadata: { name: 'default' } });
    await ask(this.#target, { method: 'POST', path, body }, this.#agent);
  }

  deployment(name: string, image: string): Promise<Owner> {
    const body = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels: LABELS },
      spec: specOf(3, image),
    };
    const query = '?fieldManager=kubectl&force=true';
    return this.#send(KUBECTL, 'PATCH', `apis/apps/v1 deployments/${name}${query}`, { body, type: APPLY });
  }

  /** A new image, its ReplicaSet, and its pods until they run. */
  async rollOut(rollout: number, pods: number): Promise<string> {
    const deployment = await this.deployment('web', `web:${rollout}`);
    const hash = `6d4b75cb${rollout}`;
    const { template, selector } = specOf(pods, `web:${rollout}`);
    const body = {
      metadata: {
        name: `web-${hash}`,
        labels: { ...LABELS, 'pod-template-hash': hash },
        ...ownedBy(deployment),
      },
      spec: { replicas: pods, selector, template },
    };
    const by = `${MANAGER}deployment-controller`;
    const set: Owner = await this.#send(by, 'POST', 'apis/apps/v1 replicasets', { body });
    const names = Array.from({ length: pods }, (_, pod) => `${set.metadata.name}-${pod}`);
    await Promise.all(names.map((name) => this.#pod(name, set)));
    const status = {
      observedGeneration: rollout + 1,
      replicas: pods,
      readyReplicas: pods,
      updatedReplicas: pods,
    };
    const patch = { body: { status }, type: MERGE };
    await this.#send(by, 'PATCH', 'apis/apps/v1 deployments/web/status', patch);
    return names[0] ?? '';
  }

  async #pod(name: string, set: Owner): Promise<void> {
    const { nodeName: _, ...spec } = podSpec(1) as { readonly nodeName: string };
    const metadata = { name, labels: LABELS, ...ownedBy(set) };
    const made = { body: { metadata, spec } };
    const pod: Owner = await this.#send(`${MANAGER}replicaset-controller`, 'POST', 'api/v1 pods', made);
    const bound = { body: { metadata: { name }, target: { kind: 'Node', name: 'node-7' } } };
    await this.#send(SCHEDULER, 'POST', `api/v1 pods/${name}/binding`, bound);
    await this.#event(pod, 'Scheduled', SCHEDULER);
    for (const [message, reason] of [
      ['Pulling', 'Pulling'],
      ['Creating', 'Created'],
      ['Running', 'Started'],
    ] as const) {
      const body = { status: { ...podStatus(1), message } };
      await this.#send(KUBELET, 'PATCH', `api/v1 pods/${name}/status`, { body, type: MERGE });
      await this.#event(pod, reason, KUBELET);
    }
  }

  #event({ metadata: { name, uid } }: Owner, reason: string, by: string): Promise<unknown> {
    const about = { apiVersion: 'v1', kind: 'Pod', namespace: this.#namespace, name, uid };
    const body = {
      metadata: { name: `${name}.${reason.toLowerCase()}` },
      ...{ involvedObject: about, reason, message: `${reason} ${name}`, type: 'Normal', count: 1 },
    };
    return this.#send(by, 'POST', 'api/v1 events', { body });
  }

  /** A person says how many, and its controller that there are so many: one write after the other. */
  async change(name: string, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const replicas = 1 + (time % 20);
      const isPerson = time % 2 === 0;
      const body = isPerson
        ? { spec: { replicas } }
        : { status: { observedGeneration: time, replicas, readyReplicas: time % 3 } };
      const path = `apis/apps/v1 deployments/${name}${isPerson ? '' : '/status'}`;
      await this.#send(isPerson ? KUBECTL : `${MANAGER}deployment-controller`, 'PATCH', path, {
        body,
        type: MERGE,
      });
    }
  }

  /** `path`: the group with its version, and what is in the namespace. @throws Error for a refusal */
  async #send<Answer>(
    userAgent: string,
    method: string,
    path: string,
    { body, type = 'application/json' }: { readonly body: object; readonly type?: string },
  ): Promise<Answer> {
    const [group, rest] = path.split(' ');
    const question = {
      ...{ method, path: `/${group}/namespaces/${this.#namespace}/${rest}`, body: JSON.stringify(body) },
      headers: { 'content-type': type, 'user-agent': userAgent },
    };
    const answer = await ask(this.#target, question, this.#agent);
    if (answer.status >= 400)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString('utf8', 0, 300)}`);
    return JSON.parse(answer.body.toString());
  }
}

const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: Owner): object => ({
  ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
});

function specOf(replicas: number, image: string) {
  const {
    nodeName: _,
    containers,
    ...spec
  } = podSpec(1) as {
    readonly nodeName: string;
    readonly containers: readonly object[];
  };
  const template = {
    metadata: { labels: LABELS },
    spec: { ...spec, containers: containers.map((container) => ({ ...container, image })) },
  };
  return { replicas, selector: { matchLabels: { app: 'web' } }, template };
}
