import { parentPort } from 'node:worker_threads';
import { StatusError } from '../api/status.ts';
import { errorText } from '../util/error-text.ts';
import type { YamlAnswer } from './yaml-aside.ts';
import { parseYamlText } from './yaml-text.ts';

/** The thread of yaml-aside.ts. */
parentPort?.on('message', (bytes: Uint8Array) => parentPort?.postMessage(read(Buffer.from(bytes))));
parentPort?.postMessage('ready');

function read(bytes: Buffer): YamlAnswer {
  try {
    const { value, duplicates } = parseYamlText(bytes);
    return { kind: 'read', json: JSON.stringify(value), duplicates };
  } catch (error) {
    if (error instanceof StatusError) return { kind: 'too-many-values' };
    return { kind: 'malformed', message: errorText(error) };
  }
}
