"""The local edge: what runs the compiled gate on one machine. It meets the guest through the component alone."""
