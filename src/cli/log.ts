import { createLogger, createSplitOutput, type LogControl } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';

/** The log as the options want it: one stream, or errors apart from all else. */
export function openLog({ verbosity, observability }: ServerOptions): LogControl {
  const { modules, splitStream, bufferBytes, flushEveryMs } = observability.log;
  if (!splitStream) return createLogger({ verbosity, modules });
  const output = createSplitOutput({
    info: process.stdout,
    error: process.stderr,
    bufferBytes,
    flushEveryMs,
  });
  return createLogger({ verbosity, modules, output });
}
