import { createSplitOutput } from '../observability/log-output.ts';
import { createLogger, type LogControl } from '../observability/logger.ts';
import type { ObservabilityOptions } from '../options/observability.ts';

/** The log as the options want it: one stream, or errors apart from all else. */
export function openLog({ log }: ObservabilityOptions): LogControl {
  const { verbosity, modules, splitStream, bufferBytes, flushEveryMs } = log;
  if (!splitStream) return createLogger({ verbosity, modules });
  const output = createSplitOutput({
    info: process.stdout,
    error: process.stderr,
    bufferBytes,
    flushEveryMs,
  });
  return createLogger({ verbosity, modules, output });
}
