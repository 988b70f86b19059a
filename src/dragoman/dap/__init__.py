"""The dap face: any editor that speaks the Debug Adapter Protocol joins a session, or starts one."""
