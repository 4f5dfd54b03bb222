import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type ClusterCertificates, ensureCertificates } from '../../../src/cli/certificates.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { type RunningTool, spawnKubectl } from '../running-tool.ts';
import { type NodeAgent, startAgent } from './agent.ts';

interface AgentOfNode {
  readonly host: string;
  readonly port: number;
  readonly declaredFeatures?: string[];
}

/** A server, a node, its agent, and a pod named `one` on it. */
export interface Stage extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly agent: NodeAgent;
  readonly certificates: ClusterCertificates;
  /** A node whose agent is there. */
  addNode(name: string, agent: AgentOfNode): Promise<void>;
  addPod(name: string, options?: PodOptions): Promise<void>;
  /** kubectl that goes on until it is stopped. */
  spawnKubectl(args: readonly string[], env?: Record<string, string>): RunningTool;
}

export interface PodOptions {
  readonly node?: string;
  readonly containers?: readonly string[];
  readonly ip?: string;
  readonly ports?: readonly number[];
  readonly labels?: Record<string, string>;
}

const MERGE = { 'content-type': 'application/merge-patch+json' };

/** Where the agent listens: what the proxies of nodes may reach is not of this machine alone. */
export async function createStage(host: string, flags: readonly string[] = []): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-agent-'));
  const certificates = await ensureCertificates(join(folder, 'certificates'), [host]);
  const file = (name: string): string => join(folder, 'certificates', name);
  const agent = await startAgent({
    certificate: certificates.serving.certificate,
    key: certificates.serving.key,
    clientCa: certificates.ca,
    host,
  });
  const database = await createTestDatabase();
  const cluster = await startCluster(database.url, [
    `--agent-certificate-authority=${file('ca.crt')}`,
    `--kubelet-client-certificate=${file('admin.crt')}`,
    `--agent-client-key=${file('admin.key')}`,
    '--agent-preferred-address-types=InternalIP,Hostname',
    ...flags,
  ]);
  const stage = new TestStage({ cluster, agent, certificates, database, folder });
  await stage.addNode('node-1', { host, port: agent.port });
  await stage.addPod('one');
  return stage;
}

class TestStage implements Stage {
  readonly cluster: Cluster;
  readonly agent: NodeAgent;
  readonly certificates: ClusterCertificates;
  readonly #database: TestDatabase;
  readonly #folder: string;
  readonly #children = new Set<ChildProcess>();

  constructor(made: {
    cluster: Cluster;
    agent: NodeAgent;
    certificates: ClusterCertificates;
    database: TestDatabase;
    folder: string;
  }) {
    this.cluster = made.cluster;
    this.agent = made.agent;
    this.certificates = made.certificates;
    this.#database = made.database;
    this.#folder = made.folder;
    writeFileSync(join(made.folder, 'hello.txt'), 'hello\n');
  }

  async addNode(name: string, { host, port, declaredFeatures = [] }: AgentOfNode): Promise<void> {
    const node = {
      kind: 'Node',
      apiVersion: 'v1',
      metadata: { name },
      status: {
        addresses: [{ type: 'InternalIP', address: host }],
        ...(declaredFeatures.length === 0 ? {} : { declaredFeatures }),
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    };
    const { code, text } = await this.cluster.request('POST', '/api/v1/nodes', node);
    expect(code, text).toBe(201);
  }

  async addPod(name: string, options: PodOptions = {}): Promise<void> {
    const { node = 'node-1', containers = ['main'], ip, ports = [], labels = {} } = options;
    const pod = {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, labels },
      spec: {
        ...(node === '' ? {} : { nodeName: node }),
        containers: containers.map((container) => ({
          name: container,
          image: 'a',
          ports: ports.map((containerPort) => ({ containerPort })),
        })),
      },
    };
    const path = '/api/v1/namespaces/default/pods';
    const created = await this.cluster.request('POST', path, pod);
    expect(created.code, created.text).toBe(201);
    const status = { phase: 'Running', ...(ip === undefined ? {} : { podIP: ip, podIPs: [{ ip }] }) };
    const reported = await this.cluster.request('PATCH', `${path}/${name}/status`, { status }, MERGE);
    expect(reported.code, reported.text).toBe(200);
  }

  spawnKubectl(args: readonly string[], env: Record<string, string> = {}): RunningTool {
    const tool = spawnKubectl(this.cluster, args, env);
    this.#children.add(tool.process);
    return tool;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await this.cluster[Symbol.asyncDispose]();
    await this.agent[Symbol.asyncDispose]();
    await this.#database.drop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Resolves when it holds. */
export async function eventually(holds: () => boolean): Promise<void> {
  await expect.poll(holds).toBe(true);
}
