import { request } from 'node:https';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { isObject } from '../../object/json-values.ts';
import type { RemoteServer } from '../../outbound/client-config.ts';
import { networkText } from '../../outbound/http-client.ts';
import { SecureAgent } from '../../outbound/secure-agent.ts';

/** How a request identifies its sender: by the kubeconfig, by a token, or not at all. */
type Sender = { readonly as: 'admin' | 'anonymous' } | { readonly as: 'token'; readonly token: string };

interface Answer {
  readonly code: number;
  readonly object: JsonObject;
}

const PATHS: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Secret: 'secrets',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
};
const TIMEOUT_MS = 30_000;
const FIELD_MANAGER = 'pg-apiserver-kubeadm-config';

/** The cluster of a kubeconfig. */
export class ClusterClient {
  readonly #server: RemoteServer;

  constructor(server: RemoteServer) {
    this.#server = server;
  }

  /** Server-side apply: fields of other writers, such as signatures, stay. @throws Error that names the object */
  async apply(object: ApiObject): Promise<void> {
    const { name = '', namespace = '' } = object.metadata;
    const { code, object: answer } = await this.#send(
      { as: 'admin' },
      'PATCH',
      `${pathOf(object)}?fieldManager=${FIELD_MANAGER}&force=true`,
      object,
    );
    if (code < 300) return;
    const where = namespace === '' ? '' : ` in ${namespace}`;
    throw new Error(`${object.kind} ${name}${where}: ${messageOf(answer, code)}`);
  }

  /** @throws Error when there is no answer */
  get(sender: Sender, path: string): Promise<Answer> {
    return this.#send(sender, 'GET', path);
  }

  #send(sender: Sender, method: string, path: string, body?: ApiObject): Promise<Answer> {
    const { url, ca, serverName, insecureSkipVerify, certificate, key, authorization } = this.#server;
    const target = new URL(path, url);
    const agent = new SecureAgent({
      rejectUnauthorized: !insecureSkipVerify,
      ...(ca === undefined ? {} : { ca }),
      ...(serverName === undefined ? {} : { servername: serverName }),
      ...(sender.as === 'admin' && certificate !== undefined ? { cert: certificate, key } : {}),
    });
    const header = sender.as === 'token' ? `Bearer ${sender.token}` : authorization;
    const headers = {
      accept: 'application/json',
      ...(sender.as === 'anonymous' || header === undefined ? {} : { authorization: header }),
      ...(body === undefined ? {} : { 'content-type': 'application/apply-patch+yaml' }),
    };
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const sent = request(target, { method, agent, headers, signal }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({ code: response.statusCode ?? 0, object: parse(Buffer.concat(chunks)) }),
        );
      });
      sent.once('error', (error) => {
        const { hostname: host, host: authority } = target;
        reject(new Error(`${url}: ${networkText(error, { host, authority })}`, { cause: error }));
      });
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

function parse(bytes: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** What a Status says. */
export const messageOf = ({ message }: JsonObject, code: number): string =>
  typeof message === 'string' && message !== '' ? message : `the server answered with status ${code}`;

function pathOf({ apiVersion, kind, metadata: { name = '', namespace = '' } }: ApiObject): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const scope = namespace === '' ? '' : `/namespaces/${namespace}`;
  return `${root}${scope}/${PATHS[kind ?? ''] ?? ''}/${encodeURIComponent(name)}`;
}
