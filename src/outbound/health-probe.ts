import { request } from 'node:https';
import { networkText } from './http-client.ts';

export interface Health {
  readonly isHealthy: boolean;
  /** The body of a good answer, or what is wrong. */
  readonly message: string;
}

/** Longer answers are cut (Kubernetes: pkg/probe/http). */
const MAX_BYTES = 10 * 1024;

/** Asks a server for its health, without a look at its certificate. */
export function probeHealth(url: URL, timeoutMs: number): Promise<Health> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const fail = (error: Error): void => {
      const why = signal.aborted ? 'context deadline exceeded' : networkText(error, authorityOf(url));
      resolve({ isHealthy: false, message: `Get ${JSON.stringify(url.href)}: ${why}` });
    };
    const sent = request(url, { agent: false, rejectUnauthorized: false, signal }, (response) => {
      const { statusCode = 0 } = response;
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body = (body + text).slice(0, MAX_BYTES);
      });
      response.once('error', fail);
      response.once('end', () => {
        const isHealthy = statusCode >= 200 && statusCode < 400;
        const message = isHealthy ? body : `HTTP probe failed with statuscode: ${statusCode}`;
        resolve({ isHealthy, message });
      });
    });
    sent.once('error', fail);
    sent.end();
  });
}

const authorityOf = ({ hostname, host }: URL): { host: string; authority: string } => ({
  host: hostname,
  authority: host,
});
