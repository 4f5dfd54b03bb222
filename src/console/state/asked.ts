import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from '../api/client.ts';
import { noteBegin } from './reach.ts';

export interface Asked<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly isReading: boolean;
  again(): void;
}

/** What a request answers; asked anew when `key` changes. The answer before stays until the next one has come. */
export function useAsked<T>(key: string, request: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<Omit<Asked<T>, 'again'>>({
    value: undefined,
    error: undefined,
    isReading: true,
  });
  const latest = useRef(request);
  latest.current = request;
  useEffect(() => {
    const reading = new AbortController();
    setState(({ value }) => ({ value, error: undefined, isReading: true }));
    latest
      .current(reading.signal)
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
