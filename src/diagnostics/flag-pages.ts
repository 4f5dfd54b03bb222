import type { LogControl } from '../observability/logger.ts';
import { type PageHandler, plainText } from './answers.ts';

const MAX_LEVEL_BYTES = 16;

/** /debug/flags/v: PUT a number, and the log is that verbose from now on. */
export const createFlagPages =
  (logger: LogControl): PageHandler =>
  async (request) => {
    const { method, path } = request;
    if (path === '/debug/flags' || path === '/debug/flags/')
      return plainText(200, `v\t${logger.verbosity}\n`);
    if (path !== '/debug/flags/v') return undefined;
    if (method !== 'PUT') return plainText(406, 'unsupported http method\n');
    const text = (await request.body(MAX_LEVEL_BYTES)).toString().trim();
    if (!/^\d{1,3}$/.test(text)) return plainText(400, `${JSON.stringify(text)} is not a whole number\n`);
    logger.setVerbosity(Number(text));
    return plainText(200, `successfully set klog.logging.verbosity to ${text}\n`);
  };
