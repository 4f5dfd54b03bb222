import type { Duplex } from 'node:stream';

const ANSWERS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * What is no HTTP/1.1 at all: answered as far as anybody listens, and hung up on. Nothing after it on the connection is read,
 * so that two readers who disagree about where a request ends cannot be played against each other.
 */
export function refuseBrokenInput(error: Error & { code?: string }, socket: Duplex): void {
  if (socket.writable && !isReset(error)) {
    const status = ANSWERS[error.code ?? ''] ?? '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n${status}\n`);
  }
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}

/** For the answer to arrive before what the peer still sends turns into a reset. */
const LINGER_MS = 500;

const isReset = ({ code }: { code?: string }): boolean => code === 'ECONNRESET' || code === 'EPIPE';
