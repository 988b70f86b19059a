/** There is no editor in a plain test: `vi.mock("vscode", …)` says what stands for it. */
export {};
