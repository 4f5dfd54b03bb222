import { createHash, createHmac, X509Certificate } from 'node:crypto';
import { Agent, request as httpsRequest } from 'node:https';
import { parse } from 'yaml';
import { certificatesIn } from '../../src/x509/pem.ts';
import { makeRequestWithKey } from './certificate-request.ts';

export interface NodeAnswer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
  readonly json: any;
}

/** Who sends a request, and what it trusts; undefined: everything, as a node does before it knows the cluster. */
interface Identity {
  readonly ca: string | undefined;
  readonly token?: string;
  readonly pair?: { readonly cert: string; readonly key: string };
}

/** A machine that joins: it sends what `kubeadm join` and the kubelet send, in their order, and checks what they check. */
export class JoiningNode {
  readonly name: string;
  readonly #url: string;
  readonly #token: string;
  readonly #pin: string;

  /** `command`: the line that `kubeadm-config` prints. */
  constructor(name: string, command: string) {
    const [, endpoint, token, pin] =
      /kubeadm join (\S+) --token (\S+) --discovery-token-ca-cert-hash (\S+)/.exec(command) ?? [];
    if (endpoint === undefined || token === undefined || pin === undefined) throw new Error(command);
    this.name = name;
    this.#url = `https://${endpoint}`;
    this.#token = token;
    this.#pin = pin;
  }

  send(identity: Identity, method: string, path: string, body?: unknown): Promise<NodeAnswer> {
    const { ca, token, pair } = identity;
    const agent = new Agent({
      ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
      ...(pair === undefined ? {} : pair),
    });
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': typeOf(method) }),
    };
    return new Promise((resolve, reject) => {
      const sent = httpsRequest(new URL(path, this.#url), { method, agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            code: response.statusCode ?? 0,
            json: JSON.parse(Buffer.concat(chunks).toString() || 'null'),
          }),
        );
      });
      sent.once('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Reads cluster-info twice, and answers how to reach the cluster with the token. @throws Error for a cluster that lies */
  async discover(): Promise<{ readonly ca: string; readonly token: string }> {
    const path = '/api/v1/namespaces/kube-public/configmaps/cluster-info';
    const insecure = await this.send({ ca: undefined }, 'GET', path);
    const { kubeconfig = '', ...signatures } = insecure.json.data ?? {};
    const [id = '', secret = ''] = this.#token.split('.');
    if (signatures[`jws-kubeconfig-${id}`] !== signatureOf(kubeconfig, id, secret))
      throw new Error('failed to verify JWS signature of received cluster info object');
    const [{ cluster }] = parse(kubeconfig).clusters;
    const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
    if (!certificatesIn(ca).map(pinOf).includes(this.#pin))
      throw new Error('none of the public keys are pinned');
    const secure = await this.send({ ca }, 'GET', path);
    if (secure.json.data.kubeconfig !== kubeconfig) throw new Error('the second kubeconfig differs');
    return { ca, token: this.#token };
  }

  /** Asks for a client certificate, and waits for it with a watch, as the kubelet does. */
  async certificate(
    identity: Identity,
    { node = this.name, usages = ['digital signature', 'client auth'], subject = '' } = {},
  ): Promise<{ readonly name: string; readonly pair: Promise<{ cert: string; key: string }> }> {
    const made = await makeRequestWithKey(subject || `O=system:nodes, CN=system:node:${node}`);
    const csr = await this.send(identity, 'POST', REQUESTS, {
      metadata: { generateName: 'csr-' },
      spec: { request: made.request, signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages },
    });
    if (csr.code !== 201) throw new Error(csr.json.message);
    const { name } = csr.json.metadata;
    const pair = this.#issued(identity, name).then((cert) => ({ cert, key: made.key }));
    pair.catch(() => {});
    return { name, pair };
  }

  /** Follows the request until it has a certificate. */
  #issued({ ca, token, pair }: Identity, name: string): Promise<string> {
    const path = `${REQUESTS}?watch=true&timeoutSeconds=60&fieldSelector=metadata.name%3D${name}`;
    const agent = new Agent({ ca, ...(pair ?? {}) });
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return new Promise((resolve, reject) => {
      const sent = httpsRequest(new URL(path, this.#url), { agent, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          const lines = (text + chunk.toString()).split('\n');
          text = lines.pop() ?? '';
          for (const line of lines) {
            const { certificate } = JSON.parse(line).object.status ?? {};
            if (certificate === undefined) continue;
            resolve(Buffer.from(certificate, 'base64').toString());
            sent.destroy();
          }
        });
        response.once('end', () => reject(new Error('the watch ended without a certificate')));
      });
      sent.once('error', reject);
      sent.end();
    });
  }
}

export const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

const typeOf = (method: string): string =>
  method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';

function pinOf(der: Buffer): string {
  const key = new X509Certificate(der).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

/** Go's jose sorts the header, and pads short keys with zeros, which HMAC does too. */
function signatureOf(content: string, id: string, secret: string): string {
  const header = Buffer.from(`{"alg":"HS256","kid":"${id}"}`).toString('base64url');
  const key = Buffer.concat([Buffer.from(secret), Buffer.alloc(32 - secret.length)]);
  const signed = `${header}.${Buffer.from(content).toString('base64url')}`;
  return `${header}..${createHmac('sha256', key).update(signed).digest('base64url')}`;
}
