import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/api/object-meta.ts';

interface StoredEvent {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly path: string;
  readonly object: JsonObject;
}

const PAGE = 2;
const CONFIG_MAPS = '/api/v1/configmaps';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/stable.example.com/v1/widgets';
const KINDS: Readonly<Record<string, readonly [string, boolean]>> = {
  [CONFIG_MAPS]: ['ConfigMap', true],
  [DEFINITIONS]: ['CustomResourceDefinition', false],
  [WIDGETS]: ['Widget', true],
};

/** An API server whose failures a test chooses: connections that break, versions that are compacted, watches that are silent. */
export class ScriptedApi implements AsyncDisposable {
  /** No watch from before it, and no page of a list from before it. */
  compacted = 0;
  /** Watches send nothing. */
  isSilent = false;
  /** Called before each page of a list. */
  beforePage: (path: string) => void = () => {};
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #events: StoredEvent[] = [];
  readonly #objects = new Map<string, Map<string, JsonObject>>();
  readonly #watches = new Set<{ readonly path: string; readonly response: ServerResponse }>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-scripted-'));
  #version = 10;

  static async start(): Promise<ScriptedApi> {
    const api = new ScriptedApi();
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  /** Returns the path of a file. */
  get kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const path = join(this.#folder, 'kubeconfig');
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: 'a', user: {} }],
    };
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  get watches(): number {
    return this.#watches.size;
  }

  put(path: string, name: string, rest: JsonObject = {}): void {
    const objects = this.#objects.get(path) ?? new Map<string, JsonObject>();
    this.#objects.set(path, objects);
    const before = objects.get(name) as { metadata: JsonObject } | undefined;
    this.#version += 1;
    const uid = before?.metadata.uid ?? `00000000-0000-4000-8000-${String(this.#version).padStart(12, '0')}`;
    const [kind = '', namespaced] = KINDS[path] ?? [];
    const object = {
      ...{ kind, apiVersion: path.split('/').slice(2, -1).join('/') },
      metadata: {
        ...{ name, uid, resourceVersion: String(this.#version), creationTimestamp: '2020-01-01T00:00:00Z' },
        ...(namespaced === true ? { namespace: 'shop' } : {}),
      },
      ...rest,
    };
    objects.set(name, object);
    this.#happen({ version: this.#version, type: before === undefined ? 'ADDED' : 'MODIFIED', path, object });
  }

  remove(path: string, name: string): void {
    const object = this.#objects.get(path)?.get(name) as { metadata: JsonObject };
    this.#objects.get(path)?.delete(name);
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    this.#happen({ version: this.#version, type: 'DELETED', path, object: { ...object, metadata } });
  }

  /** All versions so far are too old. */
  compact(): void {
    this.compacted = this.#version;
  }

  /** Breaks the connections of watches. */
  cut(): void {
    for (const { response } of this.#watches) response.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true });
  }

  #happen(event: StoredEvent): void {
    this.#events.push(event);
    for (const { path, response } of this.#watches) if (path === event.path) this.#send(response, event);
  }

  #send(response: ServerResponse, { type, object }: StoredEvent): void {
    if (!this.isSilent) response.write(`${JSON.stringify({ type, object })}\n`);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://a');
    if (searchParams.has('watch')) {
      this.#watch(pathname, searchParams, response);
      return;
    }
    const body = this.#discovered(pathname) ?? this.#list(pathname, searchParams);
    response.statusCode = body === undefined ? 404 : Number(body.code ?? 200);
    response.end(JSON.stringify(body ?? { kind: 'Status', code: 404, message: 'not found' }));
  }

  #watch(path: string, query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion'));
    if (from < this.compacted) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410, message: 'too old' } })}\n`);
      return;
    }
    const watch = { path, response };
    this.#watches.add(watch);
    response.once('close', () => this.#watches.delete(watch));
    response.flushHeaders();
    for (const event of this.#events)
      if (event.path === path && event.version > from) this.#send(response, event);
  }

  #list(path: string, query: URLSearchParams): JsonObject | undefined {
    if (KINDS[path] === undefined || (path === WIDGETS && !this.#hasWidgets)) return undefined;
    this.beforePage(path);
    const [version = this.#version, from = 0] = (query.get('continue') ?? '')
      .split('/')
      .filter(Boolean)
      .map(Number);
    if (version < this.compacted) return { code: 410, message: 'the continue token is too old' };
    const all = [...(this.#objects.get(path)?.values() ?? [])];
    const left = Math.max(all.length - from - PAGE, 0);
    return {
      items: all.slice(from, from + PAGE),
      metadata: {
        resourceVersion: String(version),
        ...(left === 0 ? {} : { continue: `${version}/${from + PAGE}`, remainingItemCount: left }),
      },
    };
  }

  get #hasWidgets(): boolean {
    return (this.#objects.get(DEFINITIONS)?.size ?? 0) > 0;
  }

  #discovered(path: string): JsonObject | undefined {
    const group = (name: string): JsonObject => ({ name, versions: [{ version: 'v1' }] });
    const resources = (name: string, namespaced: boolean, kind: string): JsonObject => ({
      resources: [{ name, kind, namespaced, verbs: ['list', 'create', 'watch'] }],
    });
    switch (path) {
      case '/api':
        return { versions: ['v1'] };
      case '/apis':
        return {
          groups: [group('apiextensions.k8s.io'), ...(this.#hasWidgets ? [group('stable.example.com')] : [])],
        };
      case '/api/v1':
        return resources('configmaps', true, 'ConfigMap');
      case '/apis/apiextensions.k8s.io/v1':
        return resources('customresourcedefinitions', false, 'CustomResourceDefinition');
      case '/apis/stable.example.com/v1':
        return this.#hasWidgets ? resources('widgets', true, 'Widget') : undefined;
      case `${DEFINITIONS}/widgets.stable.example.com`:
        return this.#hasWidgets ? {} : undefined;
      default:
        return undefined;
    }
  }
}
