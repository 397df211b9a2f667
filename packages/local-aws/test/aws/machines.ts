import { allow, aMachine, aPrincipal, functionArn } from './support.ts';

const lambda = (name: string, Payload: object, rest: object = {}) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Parameters: { FunctionName: functionArn(name), Payload },
  ...rest,
});
const succeed = { Type: 'Succeed' };

/** The state machines the Step Functions tests run. */
export const MACHINES = [
  aMachine('echo', {
    StartAt: 'Call function',
    States: {
      'Call function': lambda(
        'echo',
        { 'said.$': '$.say' },
        {
          ResultSelector: { 'heard.$': '$.Payload.said', 'status.$': '$.StatusCode' },
          ResultPath: '$.answer',
          Next: 'Is it loud',
        },
      ),
      'Is it loud': {
        Type: 'Choice',
        Choices: [{ Variable: '$.answer.heard', StringEquals: 'hi!', Next: 'Pause' }],
        Default: 'Done',
      },
      Pause: { Type: 'Wait', Seconds: 0, Next: 'Done' },
      Done: { Type: 'Pass', End: true },
    },
  }),
  aMachine('failing', {
    StartAt: 'Flaky',
    States: {
      Flaky: lambda(
        'flaky',
        { 'id.$': '$.id', 'failures.$': '$.failures' },
        {
          Retry: [
            {
              ...{ ErrorEquals: ['ProviderBusyError'], MaxAttempts: 1, JitterStrategy: 'FULL' },
              ...{ IntervalSeconds: 1, MaxDelaySeconds: 1 },
            },
          ],
          Catch: [{ ErrorEquals: ['ProviderBusyError'], Next: 'Failed' }],
          End: true,
        },
      ),
      Failed: succeed,
    },
  }),
  aMachine('callback', {
    StartAt: 'Wait for provider',
    States: {
      'Wait for provider': lambda(
        'hand-over',
        { 'token.$': '$$.Task.Token' },
        {
          Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
          TimeoutSecondsPath: '$.timeout',
          Catch: [{ ErrorEquals: ['States.Timeout'], Next: 'Timed out' }],
          ResultPath: '$.result',
          End: true,
        },
      ),
      'Timed out': succeed,
    },
  }),
  aMachine(
    'bounded',
    { StartAt: 'Call function', States: { 'Call function': lambda('echo', {}, { End: true }) } },
    { principal: aPrincipal('bounded-machine', allow(['lambda:InvokeFunction'], functionArn('other'))) },
  ),
  aMachine('slow', {
    StartAt: 'Sleep',
    States: {
      Sleep: { Type: 'Wait', SecondsPath: '$.seconds', Next: 'After' },
      After: lambda('note', {}, { End: true }),
    },
  }),
  aMachine('gated', {
    StartAt: 'Pass gate',
    States: {
      'Pass gate': lambda('gate', {}, { Next: 'After gate' }),
      'After gate': lambda('note', {}, { End: true }),
    },
  }),
  aMachine('limited', {
    StartAt: 'Sleep',
    TimeoutSeconds: 1,
    States: { Sleep: { Type: 'Wait', Seconds: 60, End: true } },
  }),
  aMachine('large', { StartAt: 'Call', States: { Call: lambda('large', {}, { End: true }) } }),
];
