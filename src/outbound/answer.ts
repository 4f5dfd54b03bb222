import type { IncomingMessage } from 'node:http';

/** What another server answered with instead of success. */
export class HttpStatusError extends Error {
  readonly code: number;
  /** Whether it asked to come again. */
  readonly retryAfter: boolean;

  constructor(code: number, retryAfter: boolean) {
    super(`the server answered with status ${code}`);
    this.name = 'HttpStatusError';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

export interface AnswerRules {
  readonly succeeds: (code: number) => boolean;
  /** An answer that lies about its length cannot fill the memory. */
  readonly maxBytes: number;
}

/** The text of a successful answer. @throws Error when it is none, or too long */
export async function readAnswer(
  response: IncomingMessage,
  { succeeds, maxBytes }: AnswerRules,
): Promise<string> {
  const code = response.statusCode ?? 0;
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) {
      response.destroy();
      throw new Error(`the server answered with more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  if (!succeeds(code)) throw new HttpStatusError(code, response.headers['retry-after'] !== undefined);
  return Buffer.concat(chunks).toString('utf8');
}
