/** A call to another process, and its answer, as they travel over the channel of child_process.fork. */
export interface Call {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** What a process can be asked: `{ name: { argument, result } }`. */
export type CallTable<Asked> = { readonly [Name in keyof Asked]: { argument: unknown; result: unknown } };

export type Handlers<Asked extends CallTable<Asked>> = {
  readonly [Name in keyof Asked]: (argument: Asked[Name]['argument']) => Promise<Asked[Name]['result']>;
};

/** The child's side: answers calls until the parent lets go, and ends with it. */
export function answerCalls<Asked extends CallTable<Asked>>(handlers: Handlers<Asked>): void {
  process.on('message', async ({ id, name, argument }: Call) => {
    process.send?.(await answer(handlers, { id, name, argument }));
  });
  process.on('disconnect', () => process.exit());
}

async function answer(handlers: object, { id, name, argument }: Call): Promise<Answer> {
  try {
    const handler: unknown = Reflect.get(handlers, name);
    if (typeof handler !== 'function') throw new Error(`no such call: ${name}`);
    return { id, result: await handler(argument) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}
