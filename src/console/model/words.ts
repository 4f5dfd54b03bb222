/** Errors in plain words, with advice. */
interface Words {
  readonly title: string;
  readonly detail: string;
  /** An action that the page offers. */
  readonly remedy?: 'now' | 'retry';
}

interface Failure {
  readonly code: number;
  readonly message: string;
}

export function wordsFor(error: unknown): Words {
  if (!isFailure(error))
    return { title: 'Something went wrong in this page', detail: String(error), remedy: 'retry' };
  const { code, message } = error;
  switch (code) {
    case 0:
      return {
        title: 'The server cannot be reached',
        detail: 'The page goes on as soon as it answers.',
        remedy: 'retry',
      };
    case 401:
      return {
        title: 'You are not signed in',
        detail: 'The token is missing, wrong or expired.',
      };
    case 403:
      return { title: 'You may not see this', detail: message };
    case 404:
      return { title: 'This does not exist', detail: message };
    case 410:
      return {
        title: 'History does not reach back that far',
        detail: message.replace(/^asOf: /, ''),
        remedy: 'now',
      };
    case 429:
      return { title: 'The server is busy', detail: message, remedy: 'retry' };
    default:
      return {
        title: code >= 500 ? 'The server could not answer' : 'The server refused this',
        detail: message,
        remedy: 'retry',
      };
  }
}

const isFailure = (error: unknown): error is Failure =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  'message' in error &&
  typeof error.code === 'number';

type Tone = 'good' | 'wait' | 'bad' | 'none';

const GOOD =
  /^(Running|Active|Ready|Bound|Available|Complete|Completed|Succeeded|Established|Approved|Approved,Issued|Healthy|Deployed)$/i;
const WAIT =
  /^(Pending|ContainerCreating|PodInitializing|Terminating|Waiting|Released|Suspended|Init:.*|Progressing)$/i;
const BAD =
  /(Error|Fail|BackOff|Evicted|NotReady|Lost|OOMKilled|Denied|Unhealthy|^Warning$|^Unknown$|SchedulingDisabled)/i;

/** The colour of a cell in columns such as Status. */
export function toneOf(column: string, cell: string): Tone {
  const name = column.toLowerCase();
  if (name === 'ready') {
    const parts = /^(\d+)\/(\d+)$/.exec(cell);
    return parts !== null && parts[1] !== parts[2] ? 'wait' : 'none';
  }
  if (!['status', 'phase', 'state', 'type', 'condition', 'health'].includes(name)) return 'none';
  if (BAD.test(cell)) return 'bad';
  if (WAIT.test(cell)) return 'wait';
  return GOOD.test(cell) ? 'good' : 'none';
}
