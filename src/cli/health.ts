import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { UsageError } from '../options/flag.ts';
import type { ServerOptions } from '../options/options.ts';
import { listenerFlags } from '../options/serving.ts';

const PAGES = ['readyz', 'livez', 'healthz'];
const TIMEOUT_MS = 4000;

/**
 * `health [readyz]`: asks the server of this machine, so that a container needs no other program for it.
 * @throws Error with what the server said where it is not well, or that it does not answer
 */
export async function reportHealth(words: readonly string[], { serving }: ServerOptions): Promise<void> {
  const [page = 'readyz', ...rest] = words;
  if (!PAGES.includes(page) || rest.length > 0)
    throw new UsageError(`health: ${JSON.stringify(words.join(' '))} is none of ${PAGES.join(', ')}`);
  const { bindAddress, securePort } = serving;
  const host = ['', '0.0.0.0', '::'].includes(bindAddress) ? 'localhost' : bindAddress;
  const { code, said } = await ask({ host, port: securePort, path: `/${page}` });
  if (code !== 200) throw new Error(`/${page} on port ${securePort} answers ${code}: ${said.trim()}`);
  process.stdout.write(`${said.trim()}\n`);
}

interface Question {
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

function ask(question: Question): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const onFailure = (error: Error): void =>
      reject(
        new Error(
          `nothing answers on port ${question.port} of ${question.host} (${error.message}): start the server, or name its port with ${listenerFlags.securePort.shown}=`,
        ),
      );
    // Like a probe of Kubernetes, it sends no secret and does not verify the certificate, whose names are those of clients.
    const asking = request({ ...question, rejectUnauthorized: false, agent: false }, (answer) => {
      text(answer).then((said) => resolve({ code: answer.statusCode ?? 0, said }), onFailure);
    });
    asking.setTimeout(TIMEOUT_MS, () => asking.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    asking.on('error', onFailure);
    asking.end();
  });
}
