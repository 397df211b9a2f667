import { serveConsole } from '../console/server.ts';
import type { connect } from '../target.ts';
import { terminalJson } from '../terminal-text.ts';
import type { Said, Verb } from '../verb.ts';

/** Runs a command on the service that `connectTo` leads to. */
type RunToText = (args: readonly string[], connectTo: typeof connect) => Promise<Said>;

/** `console`. Every page is read and every change made by a command, as this one's actor. Given the runner, which has this verb itself. */
export const consoleVerb =
  (runToText: RunToText): Verb<object> =>
  async (_options, connected, { streams, json, actor, quiet }) => {
    const target = await connected();
    const asActor = actor === undefined ? [] : [`--actor=${actor}`];
    const interrupt = streams.catchInterrupt?.();
    const { url, close } = await serveConsole({
      run: (args) => runToText([...args, '--json', ...asActor], async () => target),
      referenceUrl: target.outputs.ReferenceUrl,
    });
    quiet();
    const service = target.stackName === undefined ? 'the local run' : `stack ${target.stackName}`;
    const text = `Console of ${service}: ${url}\nWhoever has this address can do what you can. Ctrl-C ends it.`;
    streams.out(`${json ? terminalJson({ url }) : text}\n`);
    await new Promise<void>((resolve) => {
      if (interrupt?.aborted) resolve();
      interrupt?.addEventListener('abort', () => resolve(), { once: true });
    });
    await close();
    return undefined;
  };
