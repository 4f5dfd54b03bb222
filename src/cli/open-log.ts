import {
  createLogger,
  createSplitOutput,
  type LogControl,
  type LoggerOptions,
} from '../observability/logger.ts';
import type { ObservabilityOptions } from '../options/observability.ts';
import { tellExpected } from '../storage/postgres/connection/trouble.ts';
import { createReminders } from '../util/reminder.ts';

/** Opens the log as the options demand: one stream, or a separate one for errors. */
export function openLog({ log }: ObservabilityOptions): LogControl {
  const { verbosity, modules, format, splitStream, bufferBytes, flushEveryMs } = log;
  const isNews = createReminders();
  const expected: LoggerOptions['expected'] = (error, place) => {
    const trouble = tellExpected(error);
    return trouble === undefined ? undefined : { trouble, isNews: isNews(place, trouble) };
  };
  if (!splitStream) return createLogger({ verbosity, modules, format, expected });
  const output = createSplitOutput({
    info: process.stdout,
    error: process.stderr,
    bufferBytes,
    flushEveryMs,
  });
  return createLogger({ verbosity, modules, format, output, expected });
}
