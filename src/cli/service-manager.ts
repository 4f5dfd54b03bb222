import { execFile } from 'node:child_process';
import { errorText } from '../util/error-text.ts';

/** systemd, where it has started this process (sd_notify(3)). Elsewhere all of it does nothing. */
interface ServiceManager {
  /** Reports that the server serves, and from then on that its event loop turns, as often as systemd asks. */
  ready(): void;
  stopping(): void;
  /** Ends the reports. */
  close(): void;
}

/** Takes what systemd has left in the environment, so that no other process of this server reports in its name. */
export function findServiceManager(environment: NodeJS.ProcessEnv): ServiceManager {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID = `${process.pid}` } = environment;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name];
  let timer: NodeJS.Timeout | undefined;
  const tell = (...words: readonly string[]): void => {
    if (NOTIFY_SOCKET !== undefined) notify(NOTIFY_SOCKET, words);
  };
  // Twice in the time that systemd waits.
  const everyMs = WATCHDOG_PID === `${process.pid}` ? Number(WATCHDOG_USEC ?? 0) / 2000 : 0;
  return {
    ready: () => {
      tell('--ready');
      if (everyMs > 0) timer = setInterval(() => tell('WATCHDOG=1'), everyMs);
    },
    stopping: () => tell('STOPPING=1'),
    close: () => clearInterval(timer),
  };
}

/** Node.js has no datagram sockets of Unix, so that the program of systemd sends the words. */
function notify(socket: string, words: readonly string[]): void {
  execFile('systemd-notify', words, { env: { ...process.env, NOTIFY_SOCKET: socket } }, (error) => {
    if (error !== null) process.stderr.write(`systemd-notify: ${errorText(error)}\n`);
  });
}
