import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from '../api/ask.ts';
import { persist } from '../api/persist.ts';
import { noteBegin } from './history-begin.ts';

export interface Asked<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isReading: boolean;
  again(): void;
}

/**
 * Requests a value, and again when `key` changes. The old value stays until the next value or refusal. `persists`: retries
 * while the server is unavailable.
 */
export function useAsked<T>(
  key: string,
  request: (signal: AbortSignal) => Promise<T>,
  { persists = true } = {},
): Asked<T> {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<Omit<Asked<T>, 'again'>>({
    value: undefined,
    error: undefined,
    isReading: true,
  });
  const latest = useRef(request);
  latest.current = request;
  const shown = useRef<T | undefined>(undefined);
  shown.current = state.value;
  useEffect(() => {
    const reading = new AbortController();
    setState(({ value }) => ({ value, error: undefined, isReading: true }));
    const ask = (): Promise<T> => latest.current(reading.signal);
    const answer = persists
      ? persist(ask, {
          signal: reading.signal,
          keeps: () => shown.current !== undefined,
          onTrouble: (error) => setState({ value: undefined, error, isReading: true }),
        })
      : ask();
    answer
      .then((value) => reading.signal.aborted || setState({ value, error: undefined, isReading: false }))
      .catch((error: unknown) => {
        if (reading.signal.aborted || isAbort(error)) return;
        noteBegin(error);
        setState({ value: undefined, error, isReading: false });
      });
    return () => reading.abort();
  }, [key, round]);
  return { ...state, again: () => setRound(round + 1) };
}
