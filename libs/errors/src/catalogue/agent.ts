import { defineError } from '../flotilla-error.ts';

export const agentErrors = {
  agentAnswerEmpty: defineError({
    code: 'AGENT_ANSWER_EMPTY',
    remedy: 'caller',
    summary: 'The model answered with nothing, several times in a row',
    advice: 'Retry the run, or choose a model that supports tool calls.',
  }),
  agentNoToolCall: defineError({
    code: 'AGENT_NO_TOOL_CALL',
    remedy: 'caller',
    summary: 'The model went on writing text instead of calling a tool',
    advice: 'Choose a model that supports tool calls, then retry the run.',
  }),
  agentCallsUnreadable: defineError({
    code: 'AGENT_CALLS_UNREADABLE',
    remedy: 'caller',
    summary: 'The model made only calls that could not be read, several times in a row',
    advice: 'Choose a model that supports tool calls well, then retry the run.',
  }),
  agentAnswerEndless: defineError({
    code: 'AGENT_ANSWER_ENDLESS',
    remedy: 'caller',
    summary: 'The model wrote without end, several times in a row',
    advice: 'Choose another model, then retry the run.',
  }),
  agentRefused: defineError({
    code: 'AGENT_REFUSED',
    remedy: 'caller',
    summary: 'The model refuses the task, several times in a row',
    advice: 'Reword the goal, or choose another model, then retry the run.',
  }),
  agentRepeatsItself: defineError({
    code: 'AGENT_REPEATS_ITSELF',
    remedy: 'caller',
    summary: 'The model made the same call again and again although nothing had changed',
    advice: 'Say more precisely what is wanted, or choose another model, then retry the run.',
  }),
  journalUnreadable: defineError({
    code: 'JOURNAL_UNREADABLE',
    remedy: 'operator',
    summary: 'An entry of type {type} in the journal cannot be read: {reason}',
    advice: 'The entry was written by another version of the fleet; start the step anew with flotilla retry.',
  }),
} as const;
